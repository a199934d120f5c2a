import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { Agent, AgentSocialError, Client, ConnectionError, UnknownOutcomeError, ValueLostError, isCode } from "agentsocial";
import { Proxy } from "./proxy.mjs";
import { Service } from "./service.mjs";

const unavailable = { status: 503, headers: { "retry-after": "1" }, body: { error: { code: "unavailable", message: "Not now." } } };
const busy = { status: 409, body: { error: { code: "busy", message: "Others wrote." } } };
const limited = seconds => ({ status: 429, headers: { "retry-after": String(seconds) }, body: { error: { code: "rate_limited", message: "Enough.", hint: "Wait." } } });
const gateway = { status: 502 };
const moved = { status: 307, headers: { location: "https://elsewhere.example/" } };
const wrongTime = { status: 401, body: { error: { code: "bad_timestamp", message: "Off.", server_time: Date.now() } } };

const signatures = sent => new Set(sent.map(r => r.headers["x-agent-sig"]));
const count = (posts, body) => posts.filter(post => post.body === body).length;

test("a bad connection", async t => {
  const s = await Service.start(t);
  const proxy = await Proxy.start(t, s.url);
  // The proxy's address is the agent's base URL, so the service would refuse aud: it has another host.
  let key;
  const joined = await proxy.during(["pass", "lose"], () => s.join("fox", { via: proxy.url, save: saved => { key = saved.key; } }));
  const fox = joined.value;
  let pageSize = 40; // the service remembers a public page for a moment; another size is another page
  const all = async () => (await new Client(s.url).readChannel("lounge", { limit: pageSize++ })).items;

  await t.test("a registration whose answer is lost is sent again, and answered as at first", async () => {
    assert.ok(fox, String(joined.error));
    const registrations = joined.sent.filter(r => r.url === "/v1/agents");
    assert.equal(registrations.length, 2);
    assert.equal(registrations[0].body, registrations[1].body);
    assert.equal((await fox.me()).handle, "fox");
  });

  for (const how of ["lose", "cut", "unavailable"]) {
    await t.test(`a write whose answer meets "${how}" is sent again with the same bytes, and carried out once`, async () => {
      const body = `late: ${how}`;
      const { value, error, sent } = await proxy.during([how, how], () => fox.post("lounge", body));
      assert.ok(value, String(error));
      assert.equal(sent.length, 3);
      assert.equal(signatures(sent).size, 1, "all attempts have one signature");
      assert.deepEqual(new Set(sent.map(r => `${r.headers["x-agent-ts"]} ${r.body}`)).size, 1);
      const thread = await new Client(s.url).readPost("lounge", value.id);
      assert.equal(thread.body, body);
      assert.equal(count(await all(), body), 1);
    });
  }

  await t.test("watch goes on after failures, and ends with a refusal", async () => {
    const stop = new AbortController();
    const deadline = setTimeout(() => stop.abort(), 30_000);
    const watching = Agent.fromKey(proxy.url, key, { attempts: 1 });
    const kinds = [];
    const { error, sent } = await proxy.during(["refuse", limited(600), gateway, "pass", { status: 403, body: { error: { code: "suspended", message: "No." } } }], async () => {
      for await (const news of watching.watch({ every: 20, signal: stop.signal })) kinds.push(...news.inbox.items.map(event => event.kind));
    });
    clearTimeout(deadline);
    assert.equal(error?.code, "suspended", String(error));
    assert.equal(sent.length, 5);
    assert.ok(kinds.includes("welcome"), kinds.join());
  });

  await t.test("with a token, the attempts of a write share an idempotency key, and two writes do not", async () => {
    const minted = await Agent.fromKey(s.url, key).mintToken({ label: "test", scopes: ["post"] });
    const bearer = Agent.fromToken(proxy.url, minted.token);
    const first = await proxy.during(["lose"], () => bearer.post("lounge", "late: token"));
    const second = await proxy.during([], () => bearer.updateProfile({ now: "late" }));
    assert.equal(count(await all(), "late: token"), 1, String(first.error));
    const keys = [...first.sent, ...second.sent].map(r => r.headers["idempotency-key"]);
    assert.equal(keys.length, 3);
    assert.equal(keys[0], keys[1]);
    assert.notEqual(keys[1], keys[2]);
    assert.ok(keys[0].length >= 20);
  });

  await t.test("equal writes at one time have different signatures", async () => {
    const { sent } = await proxy.during([], () => Promise.all(Array.from({ length: 10 }, () => fox.updateProfile({ now: "the same" }))));
    assert.equal(signatures(sent).size, 10);
  });

  await t.test("a clock that is ten minutes off is corrected by server_time", async () => {
    for (const off of [-600_000, 600_000]) {
      const agent = Agent.fromKey(proxy.url, key, { now: () => Date.now() + off });
      const first = await proxy.during([], () => agent.post("lounge", `Hello, clock ${off}.`));
      assert.ok(first.value, String(first.error));
      assert.equal(first.sent.length, 2);
      assert.equal(signatures(first.sent).size, 2);
      const second = await proxy.during([], () => agent.me());
      assert.equal(second.sent.length, 1, "the corrected clock stays");
      assert.ok(Math.abs(agent.serverTime - Date.now()) < 60_000, `serverTime ${agent.serverTime}`);
    }
  });

  const cases = [
    { name: "unavailable passes, after Retry-After", script: [unavailable], sent: 2, atLeast: 1000 },
    { name: "a short limit passes, after Retry-After", script: [limited(1)], sent: 2, atLeast: 1000 },
    { name: "a long limit is thrown at once", script: [limited(3600)], sent: 1, code: "rate_limited" },
    { name: "busy passes", script: [busy, busy], sent: 3 },
    { name: "busy stays", script: Array(5).fill(busy), sent: 5, code: "busy" },
    { name: "a gateway fails for a moment", script: [gateway], sent: 2 },
    { name: "a redirect is not followed", script: [moved], sent: 1, code: "" },
    { name: "the clock stays off", script: [wrongTime, wrongTime], sent: 2, code: "bad_timestamp", signatures: 2 },
    { name: "the clock is off after a lost answer", script: ["refuse", wrongTime], sent: 2, unknown: true },
    { name: "a write is never answered", script: Array(5).fill("refuse"), sent: 5, unknown: true },
    { name: "a read is never answered", read: true, script: Array(5).fill("refuse"), sent: 5, lost: true },
    { name: "a read with a wrong clock after a lost answer", read: true, script: ["refuse", wrongTime], sent: 3, signatures: 2 },
  ];
  for (const c of cases) {
    await t.test(c.name, async () => {
      const begun = Date.now();
      const { value, error, sent } = await proxy.during(c.script, () => (c.read ? fox.me() : fox.updateProfile({ into: c.name })));
      assert.equal(sent.length, c.sent, `requests; ${error}`);
      assert.equal(signatures(sent).size, c.signatures ?? 1, "signatures");
      if (c.code !== undefined) {
        assert.ok(error instanceof AgentSocialError, String(error));
        assert.equal(error.code, c.code);
      } else if (c.unknown) {
        assert.ok(error instanceof UnknownOutcomeError, String(error));
      } else if (c.lost) {
        assert.ok(error instanceof ConnectionError, String(error));
      } else assert.ok(value, String(error));
      if (c.atLeast) assert.ok(Date.now() - begun >= c.atLeast, `it took ${Date.now() - begun} ms, want at least ${c.atLeast}`);
    });
  }

  await t.test("an error has the code, the hint, the docs and the time to retry", async () => {
    const { error } = await proxy.during([limited(3600)], () => fox.me());
    assert.equal(error.status, 429);
    assert.equal(error.hint, "Wait.");
    assert.ok(Math.abs(error.retryAt - Date.now() - 3_600_000) < 60_000, `retryAt ${error.retryAt}`);
    await assert.rejects(fox.post("lounge", ""), e => {
      assert.ok(isCode(e, "invalid", "rate_limited"));
      assert.equal(e.code, "invalid");
      assert.equal(e.fields[0].field, "body");
      assert.match(e.docs, /\/docs\/errors/);
      assert.match(String(e), /^invalid: /);
      return true;
    });
    await assert.rejects(fox.post("nowhere", "Hello."), e => isCode(e, "not_found") && !isCode(e, "invalid") && typeof e.requestId === "string");
    const { error: strange } = await proxy.during([{ status: 404, body: { message: "Not Found" } }], () => fox.me());
    assert.equal(strange.code, "");
  });

  await t.test("attempts: 1 leaves out retries, but not the correction of the clock", async () => {
    const single = Agent.fromKey(proxy.url, key, { attempts: 1 });
    assert.equal((await proxy.during([busy], () => single.updateProfile({ now: "x" }))).sent.length, 1);
    assert.equal((await proxy.during([wrongTime], () => single.updateProfile({ now: "x" }))).sent.length, 2);
  });

  await t.test("a service that is down cannot have carried out a write", async () => {
    const gone = createServer().listen(0, "127.0.0.1");
    await once(gone, "listening");
    const { port } = gone.address();
    gone.close();
    await once(gone, "close");
    const nobody = Agent.fromKey(`http://127.0.0.1:${port}`, key, { attempts: 2 });
    await assert.rejects(nobody.post("lounge", "x"), e => e instanceof ConnectionError && !e.sent);
  });

  await t.test("an anonymous write that may have been carried out is not repeated", async () => {
    const { error, sent } = await proxy.during(["refuse"], () => new Client(proxy.url).askRecovery("fox", "fox@example.org"));
    assert.ok(error instanceof UnknownOutcomeError, String(error));
    assert.equal(sent.length, 1);
  });

  await t.test("a timeout and a signal end a call", async () => {
    const hasty = Agent.fromKey(proxy.url, key, { attempts: 1, timeout: 1 });
    const { error } = await proxy.during(["lose"], () => hasty.post("lounge", "late: hasty"));
    assert.ok(error instanceof UnknownOutcomeError, String(error));
    const stop = new AbortController();
    const stopped = Agent.fromKey(proxy.url, key, { signal: stop.signal });
    setTimeout(() => stop.abort(), 200);
    const begun = Date.now();
    const { error: aborted, sent } = await proxy.during([{ ...unavailable, headers: { "retry-after": "20" } }], () => stopped.me());
    assert.ok(isCode(aborted, "unavailable"), String(aborted));
    assert.equal(sent.length, 1);
    assert.ok(Date.now() - begun < 10_000);
  });

  await t.test("a token whose value was lost is named, so that it can be revoked", async () => {
    const direct = Agent.fromKey(s.url, key);
    let sent = 0;
    const forgetful = Agent.fromKey(s.url, key, {
      fetch: async (...args) => {
        const response = await fetch(...args);
        if (sent++ === 0) throw new TypeError("the connection broke");
        return response;
      },
    });
    const lost = await forgetful.mintToken({ label: "lost" }).then(() => undefined, error => error);
    assert.ok(lost instanceof ValueLostError, String(lost));
    await direct.revokeToken(lost.id);
  });
});
