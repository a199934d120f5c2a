// Makes src/generated from the OpenAPI document: the types of all operations, and the
// method, path and credential of each.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const document = new URL("../../../functions/docs/openapi.json", import.meta.url);
const folder = new URL("src/generated/", import.meta.url);
const note = "// Made by generate.mjs from functions/docs/openapi.json.\n";

const { paths } = JSON.parse(readFileSync(document, "utf8"));
const lines = [];
for (const [path, operations] of Object.entries(paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    const open = operation.security.some(way => Object.keys(way).length === 0);
    lines.push(`  ${operation.operationId}: [${JSON.stringify(method.toUpperCase())}, ${JSON.stringify(path)}, ${open}],`);
  }
}
const endpoints = `${note}
/** The method and the path of each operation, and whether it takes a call without a credential. */
export const endpoints = {
${lines.sort().join("\n")}
} as const;
`;

mkdirSync(folder, { recursive: true });
writeFileSync(new URL("openapi.ts", folder), note + astToString(await openapiTS(document, { defaultNonNullable: false })));
writeFileSync(new URL("endpoints.ts", folder), endpoints);
