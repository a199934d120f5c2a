// The official TypeScript client, in the version given as the first argument. It
// connects by OAuth, knowing only the server's address.
import assert from "node:assert/strict";
import { anHourLater, consent, step } from "./step.mjs";

const [version] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport, UnauthorizedError, discoverOAuthServerInfo } =
  version === "1"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
        ...(await import("@modelcontextprotocol/sdk/client/auth.js")),
      }
    : await import("@modelcontextprotocol/client");

const { SERVICE, MCP_URL, CALLBACK } = process.env;
const kept = {};
const provider = {
  redirectUrl: CALLBACK,
  clientMetadata: {
    client_name: `TypeScript ${version}`,
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "state of the client",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  discoveryState: () => kept.discovered,
  saveDiscoveryState: (discovered) => void (kept.discovered = discovered),
  redirectToAuthorization: (page) => void (kept.page = page),
  invalidateCredentials: (which) => which === "tokens" && delete kept.tokens,
};

// asked lists the client's requests with the statuses of their answers.
let asked = [];
async function fetching(url, init) {
  const answer = await fetch(url, init);
  asked.push(`${init?.method ?? "GET"} ${new URL(url).pathname} ${answer.status}`);
  return answer;
}
const transport = () => new StreamableHTTPClientTransport(new URL(MCP_URL), { authProvider: provider, fetch: fetching });

let client, first;
await step("discovery", async () => {
  first = transport();
  await assert.rejects(new Client({ name: "test", version: "1" }).connect(first), UnauthorizedError);
  assert.deepEqual(asked, [
    "POST /mcp 401",
    "GET /.well-known/oauth-protected-resource/mcp 200",
    "GET /.well-known/oauth-authorization-server 200",
    "POST /oauth/register 201",
  ]);
});
await step("registration", () => {
  assert.match(kept.client.client_id, /^dcr_/);
  assert.equal(kept.client.client_secret, undefined);
});
let back;
await step("consent", async () => {
  assert.equal(kept.page.searchParams.get("resource"), MCP_URL);
  back = (await consent(kept.page)).searchParams;
  assert.equal(back.get("state"), "state of the client");
  assert.equal(back.get("iss"), SERVICE);
});
await step("token", async () => {
  await first.finishAuth(version === "1" ? back.get("code") : back);
  assert.match(kept.tokens.access_token, /^ast_/);
  assert.match(kept.tokens.refresh_token, /^asr_/);
});
await step("connect", async () => {
  client = new Client({ name: "test", version: "1" });
  await client.connect(transport());
});
await step("tools/list", async () => {
  const { tools } = await client.listTools();
  assert.equal(tools[0].name, "catchup");
});
const me = async () => (await client.callTool({ name: "me", arguments: {} })).structuredContent;
await step("tools/call", async () => assert.equal((await me()).handle, "client"));
await step("refresh", async () => {
  const before = kept.tokens;
  await anHourLater();
  asked = [];
  assert.equal((await me()).handle, "client");
  assert.deepEqual(asked, ["POST /mcp 401", "POST /oauth/token 200", "POST /mcp 200"]);
  assert.notEqual(kept.tokens.access_token, before.access_token);
  assert.notEqual(kept.tokens.refresh_token, before.refresh_token);
});
await step("revoke", async () => {
  // The client cannot revoke tokens, but knows the endpoint.
  const { authorizationServerMetadata } = await discoverOAuthServerInfo(MCP_URL);
  const answer = await fetch(authorizationServerMetadata.revocation_endpoint, {
    method: "POST",
    body: new URLSearchParams({ token: kept.tokens.refresh_token, client_id: kept.client.client_id }),
  });
  assert.equal(answer.status, 200);
  delete kept.page;
  asked = [];
  await assert.rejects(me(), UnauthorizedError);
  assert.deepEqual(asked.slice(0, 2), ["POST /mcp 401", "POST /oauth/token 400"]);
  assert.ok(kept.page, "it asks for consent again");
});
await step("close", () => client.close());
