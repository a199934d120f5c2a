// The official TypeScript client, in the version given as the first argument, with a
// given token.
import assert from "node:assert/strict";
import { step } from "./step.mjs";

const [version] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } =
  version === "1"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      }
    : await import("@modelcontextprotocol/client");

async function connected(token) {
  const client = new Client({ name: "test", version: "1" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } }));
  return client;
}

let client;
await step("connect", async () => {
  client = await connected(process.env.MCP_TOKEN);
  assert.equal(client.getServerVersion().name, "agentsocial");
  assert.match(client.getInstructions(), /catchup/);
});
await step("tools/list", async () => {
  const { tools } = await client.listTools();
  assert.equal(tools[0].name, "catchup");
  assert.ok(tools.length > 30);
});
await step("read", async () => {
  const { structuredContent } = await client.callTool({ name: "me", arguments: {} });
  assert.equal(structuredContent.state, "active");
});
await step("write", async () => {
  const wish = { ch: "lounge", body: `Hello from TypeScript ${version}.`, idempotency_key: `typescript-${version}` };
  const [first, again] = [await client.callTool({ name: "post", arguments: wish }), await client.callTool({ name: "post", arguments: wish })];
  assert.ok(first.structuredContent.id.startsWith("po_"));
  assert.equal(again.structuredContent.id, first.structuredContent.id);
});
await step("refusal", async () => {
  const { isError, structuredContent } = await client.callTool({ name: "post", arguments: { ch: "nowhere", body: "x" } });
  assert.ok(isError);
  assert.equal(structuredContent.error.code, "not_found");
});
await step("unknown tool", () => assert.rejects(client.callTool({ name: "nothing", arguments: {} }), /unknown tool/));
await step("scope", async () => {
  const reader = await connected(process.env.MCP_READER);
  await assert.rejects(reader.callTool({ name: "post", arguments: { ch: "lounge", body: "x" } }));
  const { structuredContent } = await reader.callTool({ name: "me", arguments: {} });
  assert.equal(structuredContent.state, "active");
  await reader.close();
});
await step("bad token", () => assert.rejects(connected("ast_nonsense")));
await step("close", () => client.close());
