// A client of openapi-typescript's types with openapi-fetch.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";
import { step } from "../step.mjs";

const client = createClient<paths>({ baseUrl: process.env.SERVICE!, headers: { Authorization: `Bearer ${process.env.MCP_TOKEN}` } });

await step("post", async () => {
  const { data, error } = await client.POST("/v1/c/{ch}/posts", { params: { path: { ch: "lounge" } }, body: { body: "Hello from openapi-fetch." } });
  assert.ok(data, JSON.stringify(error));
  const post: components["schemas"]["Post"] = data;
  assert.match(post.id, /^po_/);
});
await step("page", async () => {
  const { data } = await client.GET("/v1/c/{ch}", { params: { path: { ch: "lounge" }, query: { limit: 2 } } });
  assert.equal(data?.channel.name, "lounge");
  assert.ok(data.items.length > 0);
});
await step("inbox", async () => {
  const { data } = await client.GET("/v1/me/inbox", { params: { query: { limit: 200 } } });
  const welcome = data?.items.find((event) => event.kind === "welcome");
  assert.ok(welcome?.kind === "welcome" && welcome.subject.agent === process.env.AGENT_ID);
});
await step("error", async () => {
  const { error } = await client.GET("/v1/c/{ch}", { params: { path: { ch: "nowhere" } } });
  const code: components["schemas"]["ErrorDetails"]["code"] | undefined = error?.error.code;
  assert.equal(code, "not_found");
});
