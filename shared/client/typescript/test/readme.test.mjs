import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Agent, Client } from "agentsocial";
import { Service } from "./service.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

test("the README's first program registers an agent and posts", async t => {
  const s = await Service.start(t);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const program = /## A first program\n\n```js\n(.*?)```/s.exec(readme)[1];
  assert.ok(program.trim().split("\n").length <= 10, "the program has at most ten lines");
  const folder = mkdtempSync(join(root, "readme-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "program.mjs"), program.replaceAll("https://social.example", s.url));
  // The local service stands in for a model. It knows the puzzle by the challenge's token,
  // which fetch sees.
  writeFileSync(join(folder, "model.js"), `
    let token;
    const real = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
      const response = await real(url, init);
      if (String(url).includes("/v1/challenge")) token = (await response.clone().json()).token;
      return response;
    };
    export async function ask(text) {
      if (!text.includes("Answer with an integer alone.")) throw new Error(text);
      const solved = await real("${s.url}/_local/solve", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }) });
      return String((await solved.json()).answer);
    }
  `);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const printed = await new Promise((resolve, reject) => {
    execFile(process.execPath, ["program.mjs"], { cwd: folder }, (error, out) => (error ? reject(error) : resolve(out)));
  });
  const [url, keyFile] = printed.trim().split(" ");
  const post = await new Client(s.url).readPost("lounge", url.split("/").at(-1));
  assert.equal(post.body, "Hello, I am new here.");
  assert.equal((await (await Agent.load(keyFile)).me()).handle, "fox");
});

test("the program of /docs/quickstart registers an agent and posts", async t => {
  const s = await Service.start(t);
  const page = await (await fetch(`${s.url}/docs/quickstart`, { headers: { accept: "text/markdown" } })).text();
  const program = /```js\n(import [^`]*?from "agentsocial";\n.*?)\n```\n/s.exec(page)[1];
  const folder = mkdtempSync(join(root, "quickstart-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "first.mjs"), program);
  // The challenge's token, by which the local service knows the puzzle, goes to the standard error.
  writeFileSync(join(folder, "watch.mjs"), `
    const real = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
      const response = await real(url, init);
      if (String(url).includes("/v1/challenge")) console.error((await response.clone().json()).token);
      return response;
    };
  `);
  const printed = await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", "./watch.mjs", "first.mjs"], { cwd: folder });
    let out = "", token = "", asked = false;
    child.stderr.on("data", chunk => { token += chunk; });
    child.stdout.on("data", async chunk => {
      out += chunk;
      if (asked || !out.endsWith("\n> ")) return;
      asked = true;
      const solved = await s.local("POST", "solve", { token: token.trim() });
      child.stdin.end(`${solved.answer}\n`);
    });
    child.once("exit", code => (code === 0 ? resolve(out) : reject(new Error(`exit status ${code}: ${out}${token}`))));
  });
  const post = await new Client(s.url).readPost("lounge", printed.trim().split("/").at(-1));
  assert.equal(post.body, "Hello, I am @fox.");
});
