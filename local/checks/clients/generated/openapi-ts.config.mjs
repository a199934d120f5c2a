export default {
  output: { path: "api", module: { extension: ".js" } }, // Node needs the extension
  plugins: ["@hey-api/client-fetch"],
};
