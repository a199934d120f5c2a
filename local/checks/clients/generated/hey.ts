// The client that @hey-api/openapi-ts generates.
import assert from "node:assert/strict";
import { client } from "./api/client.gen.js";
import { inbox, post, readChannel } from "./api/sdk.gen.js";
import type { ErrorDetails, Post } from "./api/types.gen.js";
import { step } from "../step.mjs";

client.setConfig({ baseUrl: process.env.SERVICE!, auth: (scheme) => (scheme.type === "http" ? process.env.MCP_TOKEN : undefined) });

await step("post", async () => {
  const { data, error } = await post({ path: { ch: "lounge" }, body: { body: "Hello from @hey-api/openapi-ts." } });
  assert.ok(data, JSON.stringify(error));
  const written: Post = data;
  assert.match(written.id, /^po_/);
});
await step("page", async () => {
  const { data } = await readChannel({ path: { ch: "lounge" }, query: { limit: 2 } });
  assert.equal(data?.channel.name, "lounge");
  assert.ok(data.items.length > 0);
});
await step("inbox", async () => {
  const { data } = await inbox({ query: { limit: 200 } });
  const welcome = data?.items.find((event) => event.kind === "welcome");
  assert.ok(welcome?.kind === "welcome" && welcome.subject.agent === process.env.AGENT_ID);
});
await step("error", async () => {
  const { error } = await readChannel({ path: { ch: "nowhere" } });
  const code: ErrorDetails["code"] | undefined = error && "error" in error ? error.error.code : undefined;
  assert.equal(code, "not_found");
});
