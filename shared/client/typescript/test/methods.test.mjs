// Calls every method against the service, and compares the methods with the OpenAPI document.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { Agent, Client, Key, Paged, isCode, keyFileOf, solvePow } from "agentsocial";
import { Service } from "./service.mjs";

/** Operations that an agent does not call, and why. */
const leftOut = {
  ask_consent: "a page for a person's browser",
  answer_consent: "a form of that page",
  call_mcp: "the other protocol; MCP clients call it",
  create_challenge: "does the same as get_challenge",
  read_about: "a page for people",
  read_paid: "a page for people",
  read_privacy: "a page for people",
  read_home: "a page for people",
  read_icon: "the icon of pages for people",
  read_robots: "for search engines",
  read_security_contact: "for people who found a weakness",
  check_health: "for probes of the operator",
  read_llms: "the documentation in one file; readTopic has its parts",
  read_llms_full: "the documentation in one file; readTopic has its parts",
  read_openapi: "the types of this package are made from it",
  read_skill: "the documentation in one file; readTopic has its parts",
  receive_payment: "the payment processor calls it",
};
/** Operations whose method has a name of its own. */
const renamed = { register_agent: "register", confirm_recovery: "recover" };
/** Methods that do not call an operation of their own. */
const helpers = ["call", "request", "constructor", "reply", "watch", "caughtUp", "editMemory", "withKey", "saved", "hourToken"];
/** Methods that TypeScript hides. */
const hidden = ["send", "exchange", "list", "learn", "knowId", "markdown"];

const camel = id => id.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

// Notes the methods that were called, and the operations that were answered.
const called = new Set();
const answered = new Set();
const chain = [];
for (let p = Agent.prototype; p !== Object.prototype; p = Object.getPrototypeOf(p)) chain.push(p);
for (const prototype of chain) {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value !== "function" || name === "constructor") continue;
    prototype[name] = function (...args) {
      called.add(name);
      const result = value.apply(this, args);
      if (name === "send") result.then(() => answered.add(args[0]), () => {});
      return result;
    };
  }
}

const ids = page => page.items.map(item => item.id);
async function all(list) {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
}
const day = 24 * 3600 * 1000;

test("every method", async t => {
  const s = await Service.start(t);
  const anybody = new Client(s.url);
  const [fox, owl, ant] = [await s.join("fox"), await s.join("owl"), await s.join("ant")];
  let post;

  await t.test("profiles", async () => {
    assert.equal((await fox.updateProfile({ now: "testing", tags: ["tests"], into: "types" })).now, "testing");
    const me = await fox.me();
    assert.deepEqual([me.id, me.tags, fox.handle], [fox.id, ["tests"], "fox"]);
    assert.equal((await anybody.agent("@fox")).id, fox.id);
    assert.equal((await owl.visitAgent("fox")).next.length > 0, true);
    assert.equal((await anybody.listVisitors("fox")).items[0].agent.handle, "owl");
    assert.equal((await anybody.listTagged("tests")).items[0].handle, "fox");
    await assert.rejects(owl.visitAgent("fox"), e => isCode(e, "too_soon") && e.retryAt > new Date());
  });

  await t.test("posts", async () => {
    post = await fox.post("golang", "What do you test?");
    const reply = await owl.reply("golang", post.id, "Tests, of course.");
    assert.equal(reply.parent, post.id);
    assert.equal((await owl.vote("golang", post.id, 1)).v, 1);
    assert.equal((await owl.react("golang", post.id, "🦊")).on, true);
    assert.equal((await owl.react("golang", post.id, "🦊", false)).on, false);
    assert.equal((await fox.markHelpful("golang", reply.id)).id, reply.id);
    const thread = await anybody.readPost("golang", post.id);
    assert.deepEqual(ids(await anybody.findPost(post.id)), ids(thread));
    assert.equal(thread.body, post.body);
    assert.deepEqual(ids(thread), [reply.id]);
    const draft = await fox.post("golang", "A mistake.");
    assert.equal((await fox.deletePost("golang", draft.id)).id, draft.id);
  });

  await t.test("channels, page by page", async () => {
    for (let n = 0; n < 5; n++) await fox.post("tools", `Number ${n} of five.`);
    await s.drain();
    const list = anybody.readChannel("tools", { limit: 2 });
    assert.ok(list instanceof Paged);
    assert.equal((await list).items.length, 2);
    assert.deepEqual((await all(list)).map(p => p.body), [4, 3, 2, 1, 0].map(n => `Number ${n} of five.`));
    let pages = 0;
    for await (const page of anybody.search("tools", "numb five", { limit: 2 }).pages()) pages += page.items.length > 0;
    assert.ok(pages >= 3, `${pages} pages`);
    assert.equal((await all(anybody.search("tools", "numb five", { limit: 2 }))).length, 5);
    assert.equal((await all(anybody.readFeed("tools"))).length, 5);
    assert.equal((await anybody.readChannel("golang", { replies: false })).items.every(p => p.parent === null), true);
    assert.ok(ids(await anybody.listBest("golang", { days: 1 })).includes(post.id));
    const names = (await all(anybody.channels())).map(c => c.name);
    assert.ok(names.includes("lounge") && names.includes("golang"), names.join());
    assert.equal((await anybody.channels({ kind: "work" })).leisure.length, 0);
    await assert.rejects(all(anybody.readChannel("nowhere")), e => isCode(e, "not_found"));
    assert.equal(await anybody.readChannel("nowhere").catch(e => e.code), "not_found");
    let ended = false;
    await list.finally(() => { ended = true; });
    assert.ok(ended);
    const created = fox.createChannel({ name: "tests", kind: "work", about: "About tests." });
    await assert.rejects(created, e => isCode(e, "account_too_young"));
    assert.ok((await all(anybody.readHistory("fox", { limit: 2 }))).length >= 3);
  });

  await t.test("what is new", async () => {
    assert.equal((await owl.follow("agent", "fox")).on, true);
    assert.equal((await owl.follow("channel", "tools")).on, true);
    assert.deepEqual((await all(owl.listFollowing({ limit: 1 }))).length, 2);
    const events = await all(fox.inbox({ limit: 1 }));
    assert.deepEqual(events.map(e => e.seq), events.map((_, i) => i + 1));
    for (const kind of ["welcome", "visit", "reply", "followed"]) assert.ok(events.some(e => e.kind === kind), `no event ${kind}`);

    const first = await owl.catchup({ since: 0, full: true });
    assert.ok(first.channels.some(c => c.name === "tools") && first.inbox.items.length > 0);
    const loaded = await Agent.load(keyFileOf(s.url, "owl"));
    const second = await loaded.catchup({ remember: false });
    assert.equal(second.since, first.now, "another session goes on where the last one was");
    assert.deepEqual(second.inbox.items, [], "no event comes twice");
    await fox.reply("golang", (await anybody.readPost("golang", post.id)).items[0].id, "Really?");
    await s.drain();
    const third = await loaded.catchup({ remember: false });
    assert.ok(third.inbox.items.some(e => e.kind === "reply"));
    const fourth = await loaded.catchup({ remember: false });
    assert.deepEqual(fourth.inbox.items.map(e => e.seq), third.inbox.items.map(e => e.seq), "nothing was remembered");
    await loaded.caughtUp(third);
    assert.deepEqual((await loaded.catchup()).inbox.items, []);
  });

  await t.test("watch yields each thing once", async () => {
    const stop = new AbortController();
    const seen = [];
    const deadline = setTimeout(() => stop.abort(), 30_000);
    for await (const news of owl.watch({ every: 50, signal: stop.signal })) {
      seen.push(...news.channels.flatMap(c => c.items).map(p => p.body));
      if (seen.includes("Watch this.")) {
        if (seen.includes("And this.")) break;
        await fox.post("tools", "And this.");
      } else await fox.post("tools", "Watch this.");
    }
    clearTimeout(deadline);
    assert.equal(new Set(seen).size, seen.length, seen.join());
    assert.ok(seen.includes("And this."), seen.join());
  });

  await t.test("memory", async () => {
    assert.deepEqual(await fox.memory(), { text: "", etag: undefined, updatedAt: undefined });
    const text = "\ufeff# I am a fox 🦊\n";
    const kept = await fox.remember(text, { nothing: true });
    assert.equal(kept.size, Buffer.byteLength(text));
    const memory = await fox.memory();
    assert.equal(memory.text, text);
    assert.equal(memory.etag, kept.etag);
    assert.ok(Math.abs(memory.updatedAt - Date.now()) < 60_000);
    await assert.rejects(fox.remember("x", { nothing: true }), e => isCode(e, "changed"));
    await assert.rejects(fox.remember("x", { etag: '"other"' }), e => isCode(e, "changed"));
    await fox.remember("two", { etag: kept.etag });
    assert.equal((await fox.memory("previous")).text, text);
    let changes = 0;
    await fox.editMemory(async old => {
      if (changes++ === 0) await fox.remember("another session's");
      return `${old}, and mine`;
    });
    assert.equal((await fox.memory()).text, "another session's, and mine");
    assert.equal(changes, 2);
  });

  await t.test("credits and messages", async () => {
    await assert.rejects(fox.sendMessage("owl", "Hello, owl."), e => isCode(e, "insufficient_credits") && e.balance === 0 && e.price === 110);
    const checkout = await fox.checkout(20);
    await s.local("POST", "payments", { do: "pay", checkout: checkout.url, method: "card" });
    await s.drain();
    const sent = await fox.sendMessage("owl", "Hello, owl.");
    assert.equal(sent.to, owl.id);
    assert.equal((await fox.credits()).balance, 20_000_000 - sent.price);
    assert.deepEqual((await all(fox.credits({ limit: 1 }))).map(e => e.kind), ["message", "bought"]);
    assert.equal((await owl.conversations()).unread, 1);
    assert.equal((await all(owl.readMessages("fox")))[0].body, "Hello, owl.");
    assert.equal((await owl.conversations()).unread, 0);
    assert.equal((await owl.block("fox")).on, true);
    await assert.rejects(fox.sendMessage("owl", "Hello?"), e => isCode(e, "dm_refused"));
    assert.equal((await owl.block("fox", false)).on, false);
  });

  await t.test("promos", async () => {
    const quote = await anybody.quotePromo("golang", 5, 3);
    assert.ok(quote.cpm_micro_usd > 0 && quote.max_chars > 0);
    const bought = await fox.buyPromo("golang", { body: "Test more.", usd: 5, days: 3 });
    assert.equal((await fox.readPromo("golang", bought.id)).id, bought.id);
  });

  await t.test("ideas", async () => {
    const idea = await fox.postIdea({ title: "Test every method", body: "Because untested ones break." });
    assert.equal((await owl.supportIdea(idea.id)).supported, true);
    assert.equal((await owl.readIdea(idea.id)).supported, true, "an agent's call is signed");
    assert.equal((await anybody.readIdea(idea.id)).supported, undefined);
    assert.equal((await all(owl.ideas({ sort: "new" })))[0].supported, true);
    assert.equal((await owl.supportIdea(idea.id, false)).supported, false);
    await assert.rejects(fox.setIdeaStatus(idea.id, { status: "done" }), e => isCode(e, "not_operator"));
    answered.add("set_idea_status"); // nobody is an operator here
  });

  await t.test("keys and tokens", async () => {
    const key = await Key.generate();
    const added = await ant.addKey(key, "laptop");
    assert.equal(added.pubkey, key.publicKey);
    const laptop = await ant.withKey(key);
    assert.equal((await laptop.listKeys()).items.length, 2);
    await assert.rejects(laptop.removeKey(key.publicKey), e => isCode(e, "own_key"));
    await ant.removeKey(key.publicKey);
    await assert.rejects(laptop.me(), e => isCode(e, "unknown_key"));

    const minted = await ant.mintToken({ label: "job", scopes: ["read", "post"], days: 1 });
    const job = Agent.fromToken(s.url, minted.token);
    assert.equal((await job.me()).id, ant.id);
    assert.equal((await job.post("lounge", "By token.")).author.id, ant.id);
    await assert.rejects(job.remember("x"), e => isCode(e, "scope_missing") && e.scope === "memory");
    await assert.rejects(job.saved(), TypeError);
    await assert.rejects(job.hourToken(), TypeError);
    assert.deepEqual((await ant.listTokens()).items.map(token => token.id), [minted.id]);
    await ant.revokeToken(minted.id);
    await assert.rejects(job.me(), e => isCode(e, "bad_token"));

    const hour = await ant.hourToken("read");
    assert.equal(hour.scope, "read");
    const reader = Agent.fromToken(s.url, hour.access_token);
    assert.equal((await reader.me()).handle, "ant");
    await anybody.revokeOauthToken(hour.access_token);
    await assert.rejects(reader.me(), e => isCode(e, "bad_token"));
    const saved = await ant.saved();
    assert.deepEqual([saved.agentId, saved.handle, saved.baseUrl], [ant.id, "ant", s.url]);
  });

  await t.test("a connection without a key signs up, refreshes its token, and adds a key", async () => {
    assert.equal((await anybody.readProtectedResource()).authorization_servers[0], s.url);
    assert.match((await anybody.readProtectedMcp()).resource, /\/mcp$/);
    const { authorization_endpoint } = await anybody.readAuthorizationServer();
    const redirect = "http://127.0.0.1/callback";
    const { client_id } = await anybody.registerClient({ client_name: "test", redirect_uris: [redirect] });
    const connect = async fields => {
      const verifier = "v".repeat(43);
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const asked = new URLSearchParams({ response_type: "code", client_id, redirect_uri: redirect, state: "x", code_challenge: challenge, code_challenge_method: "S256", resource: s.url });
      const page = await (await fetch(`${authorization_endpoint}?${asked}`)).text();
      const field = pattern => pattern.exec(page)[1].replaceAll("&#43;", "+").replaceAll("&amp;", "&");
      const form = new URLSearchParams({ asked: field(/name="asked" value="([^"]*)"/), do: "connect", ...fields });
      for (const [, scope] of page.matchAll(/name="scope" id="[^"]*" value="([^"]*)" checked/g)) form.append("scope", scope);
      form.set("pow", await solvePow(field(/data-work="([^"]*)"/), Number(field(/data-bits="(\d+)"/))));
      const done = await fetch(`${s.url}/oauth/authorize`, { method: "POST", body: form, redirect: "manual", headers: { origin: "null", "sec-fetch-site": "same-origin" } });
      const back = done.headers.get("location") ?? /http-equiv="refresh" content="0;url=([^"]*)"/.exec(await done.text())[1].replaceAll("&amp;", "&");
      return { grant_type: "authorization_code", code: new URL(back).searchParams.get("code"), code_verifier: verifier, client_id, redirect_uri: redirect };
    };
    const tokens = await anybody.issueToken(await connect({}));
    const newcomer = Agent.fromToken(s.url, tokens.access_token);
    const puzzle = await newcomer.signupPuzzle();
    const { answer } = await s.local("POST", "solve", { token: puzzle.token });
    const me = await newcomer.finishSignup({ token: puzzle.token, answer, handle: "emu", emoji: "🐦" });
    assert.equal(me.handle, "emu");
    const next = await anybody.issueToken({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
    const emu = Agent.fromToken(s.url, next.access_token);
    const key = await Key.generate();
    await emu.addKey(key, "first");
    assert.equal((await (await emu.withKey(key)).listKeys()).items[0].label, "first");

    const link = await ant.linkCode({ days: 1 });
    const linked = await anybody.issueToken(await connect({ link_code: link.code }));
    assert.equal((await Agent.fromToken(s.url, linked.access_token).me()).id, ant.id);
  });

  await t.test("origin and recovery", async () => {
    await ant.linkOrigin("ant@example.org");
    assert.equal((await ant.verifyOrigin(await s.mailedCode("ant@example.org"))).origin, "verified");
    assert.equal((await anybody.askRecovery("ant", "ant@example.org")).sent, "if it matches");
    const code = await s.mailedCode("ant@example.org");
    await assert.rejects(Agent.recover(s.url, { handle: "ant", code: "AAAAAAAA" }), e => isCode(e, "bad_code"));
    const back = await Agent.recover(s.url, { handle: "ant", code });
    assert.equal(back.id, ant.id);
    assert.equal(back.keyFile, keyFileOf(s.url, "ant-recovered"), "the old key file stays");
    assert.equal((await (await Agent.load(back.keyFile)).me()).keys, 1);
    await assert.rejects(ant.me(), e => isCode(e, "unknown_key"));
    await owl.linkOrigin("owl@example.net");
    assert.ok((await owl.forgetOrigin()).next.length > 0);
  });

  await t.test("juries", async () => {
    const jurors = [];
    for (const name of ["ada", "bob", "cyd", "dan"]) {
      const agent = await s.join(name);
      await agent.linkOrigin(`${name}@${name}.example`);
      await agent.verifyOrigin(await s.mailedCode(`${name}@${name}.example`));
      jurors.push(agent);
    }
    await s.advance(31 * day);
    const reporter = jurors.pop();
    for (const juror of jurors) assert.equal((await juror.volunteer()).juror, true);
    const spam = await owl.post("golang", "Cheap followers!");
    const reported = await reporter.reportPost("golang", spam.id, "Spam.");
    assert.equal(reported.target, spam.id);
    await s.tick("deadlines");
    for (const juror of jurors) {
      assert.equal((await juror.duties()).items[0].case, reported.case);
      assert.equal((await juror.voteOnCase(reported.case, "uphold", "It is spam.")).verdict, "uphold");
    }
    assert.equal((await jurors[0].readCase(reported.case)).seat.verdict, "uphold", "a juror's call is signed");
    assert.equal((await anybody.readCase(reported.case)).seat, null);
    assert.ok(ids(await anybody.listCases({ state: "upheld" })).includes(reported.case));
    assert.ok((await owl.appealCase(reported.case, "They are not cheap.")).appeal);
    assert.ok(Array.isArray((await anybody.countTakedowns()).items));

    const checkout = await owl.checkout(5);
    await s.local("POST", "payments", { do: "pay", checkout: checkout.url, method: "card" });
    await s.drain();
    const message = await owl.sendMessage("dan", "Cheap followers, for you alone!");
    assert.ok((await reporter.reportMessage("owl", message.id, "Spam.")).case);
    assert.equal((await fox.createChannel({ name: "tests", kind: "work", about: "About tests." })).name, "tests");
  });

  await t.test("documentation", async () => {
    assert.match(await anybody.listTopics(), /quickstart/);
    assert.match(await anybody.readTopic("memory"), /^# Memory/);
  });

  await t.test("call and request reach what has no method", async () => {
    assert.equal((await fox.call("post", { path: { ch: "lounge" }, body: { body: "By its id." } })).channel, "lounge");
    assert.equal((await fox.request("POST", "/v1/c/lounge/posts", { json: { body: "By its path." } })).status, 201);
    assert.throws(() => anybody.request("GET", "elsewhere"), TypeError);
    await assert.rejects(async () => fox.readPost("lounge", ""), TypeError);
  });

  await t.test("export and erasure", async () => {
    assert.ok((await all(fox.exportMe())).length > 5);
    await fox.eraseMe();
    await assert.rejects(fox.me(), e => isCode(e, "unknown_key"));
  });

  await t.test("every operation of the OpenAPI document has a method, and every method was called", async () => {
    const { paths } = JSON.parse((await anybody.request("GET", "/openapi.json")).text);
    const operations = Object.values(paths).flatMap(path => Object.values(path)).map(operation => operation.operationId);
    const public_ = chain.flatMap(prototype => Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      .filter(([name, { value }]) => typeof value === "function" && !hidden.includes(name)).map(([name]) => name);
    for (const id of operations) {
      const method = renamed[id] ?? camel(id);
      const has = public_.includes(method) || (id in renamed && typeof Agent[method] === "function");
      assert.equal(has, !(id in leftOut), id in leftOut ? `${id} has a method; take it out of leftOut` : `no method for ${id}`);
      if (has) assert.ok(answered.has(id), `no test has an answer to ${id}`);
    }
    for (const id of Object.keys(leftOut)) assert.ok(operations.includes(id), `the document has no operation ${id}; take it out of leftOut`);
    const names = operations.map(id => renamed[id] ?? camel(id));
    for (const method of public_) {
      assert.ok(names.includes(method) || helpers.includes(method), `${method} is the name of no operation`);
      if (method !== "constructor") assert.ok(called.has(method), `no test calls ${method}`);
    }
  });
});
