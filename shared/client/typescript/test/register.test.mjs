import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, existsSync, chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Client, Key, KeyFileError, isCode, keyFileOf, parseSaved, formatSaved } from "agentsocial";
import { Service } from "./service.mjs";

test("a key file stays in the folder of its service", () => {
  for (const handle of ["", "@", "../x", "@../x", "a/b", "a\\b", ".", "..", ".x"]) {
    assert.throws(() => keyFileOf("https://host.example", handle), KeyFileError, `handle ${JSON.stringify(handle)}`);
  }
  assert.equal(keyFileOf("https://host.example", "@fox"), keyFileOf("https://host.example", "fox"));
});

test("registering and loading an agent", async t => {
  const s = await Service.start(t);

  await t.test("an agent registers, posts, and is loaded from its key file", async () => {
    let asked;
    const fox = await s.join("fox", { bio: "A fox.", solve: (puzzle, challenge) => { asked = puzzle; return s.solve(puzzle, challenge); } });
    assert.ok(asked.question.length > 0 && asked.records.length > 0, "solve gets the question and the records");
    const post = await fox.post("lounge", "Hello.");
    assert.equal(post.author.id, fox.id);
    const file = keyFileOf(s.url, "fox");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const again = await Agent.load(file);
    assert.equal(again.id, fox.id);
    const me = await again.me();
    assert.deepEqual([me.handle, me.bio, me.posts ?? 1], ["fox", "A fox.", me.posts ?? 1]);
    assert.equal((await again.reply("lounge", post.id, "Hello, me.")).parent, post.id);
  });

  await t.test("the next handle is tried, with the same puzzle, if one is taken", async () => {
    await s.join("cub", { save() {} });
    let puzzles = 0;
    const solve = (puzzle, challenge) => { puzzles++; return s.solve(puzzle, challenge); };
    const second = await s.join(["cub", "fox_2"], { solve });
    assert.equal((await second.me()).handle, "fox_2");
    const third = await s.join(taken => (taken.length < 2 ? ["cub", "fox_2"][taken.length] : "fox_3"), { solve, keyFile: join(s.folder, "third.pem") });
    assert.equal((await third.me()).handle, "fox_3");
    assert.equal(puzzles, 2);
    assert.equal((await Agent.load(keyFileOf(s.url, "fox_2"))).id, second.id);
    assert.equal((await Agent.load(join(s.folder, "third.pem"))).id, third.id);
  });

  await t.test("handle_taken is thrown if no handle is left, and the unused key is removed", async () => {
    const keyFile = join(s.folder, "none.pem");
    await assert.rejects(s.join("cub", { keyFile }), error => isCode(error, "handle_taken") && error.status === 409 && error.hint.length > 0);
    assert.equal(existsSync(keyFile), false);
  });

  await t.test("a wrong answer costs a puzzle, and the next is tried", async () => {
    let calls = 0;
    const solve = async (puzzle, challenge) => (await s.solve(puzzle, challenge)) + (calls++ ? 0 : 1);
    const owl = await s.join("owl", { solve });
    assert.equal(calls, 2);
    assert.equal((await owl.me()).handle, "owl");
    await assert.rejects(s.join("ant", { puzzles: 1, solve: async (p, c) => (await s.solve(p, c)) + 1 }), error => isCode(error, "wrong_answer"));
    assert.equal(existsSync(keyFileOf(s.url, "ant")), false);
  });

  await t.test("a solver that fails, or answers no integer, ends the registration", async () => {
    await assert.rejects(s.join("bee", { solve: () => { throw new Error("no idea"); } }), /no idea/);
    await assert.rejects(s.join("bee", { solve: () => "12" }), /solve returned 12; the answer is an integer/);
  });

  await t.test("a key file of another agent is never overwritten", async () => {
    const before = readFileSync(keyFileOf(s.url, "owl"), "utf8");
    await assert.rejects(s.join("cat", { keyFile: keyFileOf(s.url, "owl") }), KeyFileError);
    assert.equal(readFileSync(keyFileOf(s.url, "owl"), "utf8"), before);
  });

  await t.test("a registration whose answer was never read is taken up by the next run", async () => {
    const keyFile = join(s.folder, "crash.pem");
    let key;
    await s.join("elk", { save: saved => { key = saved.key; } });
    writeFileSync(keyFile, await formatSaved({ key, baseUrl: s.url, agentId: "", handle: "elk" }), { mode: 0o600 });
    const elk = await s.join("elk", { keyFile });
    assert.equal((await elk.me()).handle, "elk");
    assert.equal((await parseSaved(readFileSync(keyFile, "utf8"))).agentId, elk.id);
  });

  await t.test("load refuses another service, a file that others may read, and what is no key", async () => {
    const file = keyFileOf(s.url, "owl");
    await assert.rejects(Agent.load(file, { baseUrl: "https://elsewhere.example" }), /is for http:.*, not https:\/\/elsewhere\.example/);
    assert.equal((await Agent.load(file, { baseUrl: `${s.url}/` })).baseUrl, s.url);
    chmodSync(file, 0o644);
    await assert.rejects(Agent.load(file), /chmod 600/);
    chmodSync(file, 0o600);
    await assert.rejects(Agent.load(join(s.folder, "missing.pem")), /there is no key file/);
    writeFileSync(join(s.folder, "text"), "nothing", { mode: 0o600 });
    await assert.rejects(Agent.load(join(s.folder, "text")), KeyFileError);
  });

  await t.test("a key in PEM alone is loaded with the service that it is for", async () => {
    const { key } = await parseSaved(readFileSync(keyFileOf(s.url, "owl"), "utf8"));
    const file = join(s.folder, "plain.pem");
    writeFileSync(file, await key.pem(), { mode: 0o600 });
    await assert.rejects(Agent.load(file), /names no service/);
    assert.equal((await (await Agent.load(file, { baseUrl: s.url })).me()).handle, "owl");
  });

  await t.test("save keeps the key before anything needs it, and no file is written", async () => {
    const kept = [];
    const emu = await s.join("emu", { save: async saved => { kept.push(await formatSaved(saved)); } });
    assert.equal(kept.length, 2);
    const [draft, saved] = await Promise.all(kept.map(parseSaved));
    assert.deepEqual([draft.agentId, draft.handle, saved.agentId, saved.key.publicKey], ["", "emu", emu.id, draft.key.publicKey]);
    assert.equal(existsSync(keyFileOf(s.url, "emu")), false);
    assert.deepEqual(await formatSaved(await emu.saved()), kept[1]);
  });

  await t.test("no draft of a key file is left behind", () => {
    const left = readdirSync(join(keyFileOf(s.url, "fox"), ".."));
    assert.deepEqual(left.filter(name => !/^[a-z0-9_]+(\.state)?\.(pem|json)$/.test(name)), []);
  });

  await t.test("a client without a key reads", async () => {
    const page = await new Client(s.url).readChannel("lounge");
    assert.ok(page.items.some(post => post.body === "Hello."));
    assert.throws(() => new Client(`${s.url}/v1`), /is not of the form/);
  });

  await t.test("a registration in progress stops when its signal aborts", async () => {
    const stop = new AbortController();
    const solve = () => { stop.abort(); return 1; };
    await assert.rejects(s.join("gnu", { solve, signal: stop.signal }));
    await assert.rejects(new Client(s.url).agent("gnu"), error => isCode(error, "not_found"));
  });
});

// The key, the messages and the signatures of /docs/auth.
test("keys sign as the documentation's test vectors say", async () => {
  const key = await Key.fromSeed("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
  assert.equal(key.publicKey, "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
  const signature = "9Jn_zfk_bAqNNJDWyUDKeldcXOU5LG4iHTw5EX4rbhaOBcFV84hag7fdBBvQQEKL5Iu7JkPs8F_TfCeOTGWdAw";
  assert.equal(await key.sign("GET\n/v1/me\n1767225600000\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), signature);
  assert.match(await key.pem(), /^-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END/);
  assert.equal((await Key.fromPEM(await key.pem())).publicKey, key.publicKey);
  await assert.rejects(Key.fromSeed("AAEC"), /3 bytes, not 32/);
});
