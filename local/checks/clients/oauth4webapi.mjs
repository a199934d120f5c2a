// oauth4webapi checks each answer strictly against its standard.
import assert from "node:assert/strict";
import { createPrivateKey, randomUUID, sign } from "node:crypto";
import * as oauth from "oauth4webapi";
import { consent, step } from "./step.mjs";

const { SERVICE, MCP_URL, CALLBACK, AGENT_ID, AGENT_KEY } = process.env;
const plain = { [oauth.allowInsecureRequests]: true }; // the service is on this machine
const nobody = oauth.None();

let resource, as, client;
await step("resource metadata", async () => {
  const at = new URL(MCP_URL);
  resource = await oauth.processResourceDiscoveryResponse(at, await oauth.resourceDiscoveryRequest(at, plain));
  assert.deepEqual(resource.authorization_servers, [SERVICE]);
});
await step("server metadata", async () => {
  const issuer = new URL(resource.authorization_servers[0]);
  as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...plain, algorithm: "oauth2" }));
  assert.ok(as.authorization_response_iss_parameter_supported);
});
await step("registration", async () => {
  const metadata = { client_name: "oauth4webapi", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
  client = await oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(as, metadata, plain));
});

const verifier = oauth.generateRandomCodeVerifier();
async function codeGranted() {
  const state = oauth.generateRandomState();
  const page = new URL(as.authorization_endpoint);
  page.search = new URLSearchParams({
    response_type: "code", client_id: client.client_id, redirect_uri: CALLBACK, scope: "read post", state, resource: resource.resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
  });
  return oauth.validateAuthResponse(as, client, await consent(page), state); // it checks that iss is the server's
}
const tokenOf = async (code, verifier) =>
  oauth.processAuthorizationCodeResponse(as, client, await oauth.authorizationCodeGrantRequest(as, client, nobody, code, CALLBACK, verifier, plain));
const refreshed = async (token) =>
  oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, nobody, token, plain));
const me = (token) => oauth.protectedResourceRequest(token, "GET", new URL(`${SERVICE}/v1/me`), undefined, undefined, plain);
const invalidGrant = (e) => e instanceof oauth.ResponseBodyError && e.error === "invalid_grant";

let code, tokens;
await step("consent", async () => {
  code = await codeGranted();
});
await step("token", async () => {
  tokens = await tokenOf(code, verifier);
  assert.equal(tokens.token_type, "bearer");
  assert.equal(tokens.scope, "read post"); // the page preselects the requested scopes
  assert.equal((await (await me(tokens.access_token)).json()).handle, "client");
});
await step("refresh", async () => {
  const next = await refreshed(tokens.refresh_token);
  assert.notEqual(next.access_token, tokens.access_token);
  tokens = next;
  assert.equal((await me(tokens.access_token)).status, 200);
});
await step("revoke", async () => {
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, nobody, tokens.refresh_token, plain));
  await assert.rejects(me(tokens.access_token), (e) => {
    assert.ok(e instanceof oauth.WWWAuthenticateChallengeError);
    const [{ scheme, parameters }] = e.cause;
    assert.equal(scheme, "bearer");
    assert.equal(parameters.error, "invalid_token");
    return true;
  });
  await assert.rejects(refreshed(tokens.refresh_token), invalidGrant);
});
await step("wrong verifier", async () => {
  const code = await codeGranted();
  await assert.rejects(tokenOf(code, oauth.generateRandomCodeVerifier()), invalidGrant);
});

// The answer must have no WWW-Authenticate challenge, which the client would report
// instead of the error.
await step("invalid client", async () => {
  const forgotten = { client_id: "dcr_forgotten" };
  const code = await codeGranted();
  const asked = await oauth.authorizationCodeGrantRequest(as, forgotten, nobody, code, CALLBACK, verifier, plain);
  await assert.rejects(
    oauth.processAuthorizationCodeResponse(as, forgotten, asked),
    (e) => e instanceof oauth.ResponseBodyError && e.error === "invalid_client",
  );
});

// An agent with a key needs no consent page.
const key = createPrivateKey({ key: JSON.parse(AGENT_KEY), format: "jwk" });
function assertion() {
  const part = (v) => Buffer.from(JSON.stringify(v)).toString("base64url");
  const iat = Math.floor(Date.now() / 1000);
  const text = [
    { alg: "EdDSA", typ: "JWT", kid: JSON.parse(AGENT_KEY).x },
    { iss: AGENT_ID, sub: AGENT_ID, aud: as.issuer, iat, exp: iat + 120, jti: randomUUID() },
  ].map(part).join(".");
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}
const tokenFor = async (assertion) => {
  const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const asked = await oauth.genericTokenEndpointRequest(as, client, nobody, grant, { assertion, scope: "read" }, plain);
  return oauth.processGenericTokenEndpointResponse(as, client, asked);
};
await step("jwt-bearer", async () => {
  const signed = assertion();
  const token = await tokenFor(signed);
  assert.equal(token.scope, "read");
  assert.equal(token.refresh_token, undefined);
  assert.equal((await me(token.access_token)).status, 200);
  await assert.rejects(tokenFor(signed), invalidGrant); // an assertion is valid once
});
