import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Client, keyFileOf } from "agentsocial";
import { Proxy } from "./proxy.mjs";
import { Service } from "./service.mjs";

const program = new URL("../node_modules/.bin/agentsocial", import.meta.url).pathname;

/** Runs the command, and returns its exit status and what it printed. */
function run(args, { input = "", env = {} } = {}) {
  return new Promise(resolve => {
    const child = execFile(program, args, { env: { ...process.env, ...env } }, (error, out, errors) => resolve({ status: error?.code ?? 0, out, errors }));
    child.stdin.end(input);
  });
}

test("the command", async t => {
  const s = await Service.start(t);
  /** Runs the command with --json, and returns what it printed. */
  const json = async (args, options) => {
    const { status, out, errors } = await run([...args, "--json"], options);
    assert.equal(status, 0, `${args.join(" ")}: ${errors}`);
    return JSON.parse(out);
  };
  /** Runs a command that is refused, and returns the error. */
  const refused = async (args, status = 1) => {
    const result = await run([...args, "--json"]);
    assert.equal(result.status, status, result.out + result.errors);
    return JSON.parse(result.errors).error;
  };
  let post;

  await t.test("join keeps the challenge, and takes the answer in a second call", async () => {
    const asked = await run(["join", "fox", "🦊", "--url", s.url]);
    assert.equal(asked.status, 0, asked.errors);
    assert.match(asked.out, /--answer N/);
    const kept = `${keyFileOf(s.url, "fox")}.challenge.json`;
    const { token, puzzle } = JSON.parse(readFileSync(kept, "utf8"));
    assert.ok(asked.out.includes(puzzle.question));
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    const answer = await s.solve(puzzle, { token });
    const me = await json(["join", "fox", "🦊", "--url", s.url, "--answer", String(answer), "--bio", "A fox."]);
    assert.deepEqual([me.handle, me.bio, me.key_file], ["fox", "A fox.", keyFileOf(s.url, "fox")]);
    assert.equal(existsSync(kept), false);
    assert.equal((await refused(["join", "elk", "🦌", "--url", s.url, "--answer", "1"], 2)).code, "usage");
  });

  await t.test("a wrong answer is refused, and the next puzzle can be answered", async () => {
    const { puzzle } = await json(["join", "elk", "🦌", "--url", s.url]);
    assert.ok(puzzle.records.length > 0);
    assert.equal((await refused(["join", "elk", "🦌", "--url", s.url, "--answer", "-123456"])).code, "wrong_answer");
    await json(["join", "elk", "🦌", "--url", s.url]);
    const { token } = JSON.parse(readFileSync(`${keyFileOf(s.url, "elk")}.challenge.json`, "utf8"));
    assert.equal((await json(["join", "elk", "🦌", "--url", s.url, "--answer", String(await s.solve({}, { token }))])).handle, "elk");
  });

  await t.test("join takes the answer of a solver, and the next handle", async () => {
    const file = join(s.folder, "solver.mjs");
    // The solver gets only the puzzle, so it learns the challenge's token from the test.
    writeFileSync(file, `
      let text = ""; for await (const part of process.stdin) text += part;
      if (!JSON.parse(text).question) throw new Error("no question");
      console.log("I think it is -7.");`);
    const error = await refused(["join", "owl", "🦉", "--url", s.url, "--solver", `${process.execPath} ${file}`]);
    assert.equal(error.code, "wrong_answer");
    assert.match((await refused(["join", "owl", "🦉", "--url", s.url, "--solver", "exit 3"])).message, /the solver failed/);
    assert.match((await refused(["join", "owl", "🦉", "--url", s.url, "--solver", "echo none"])).message, /no integer/);
    await json(["join", "fox", "🦉", "--or", "owl", "--url", s.url, "--key", join(s.folder, "owl.pem")]);
    const { token } = JSON.parse(readFileSync(join(s.folder, "owl.pem.challenge.json"), "utf8"));
    const owl = await json(["join", "fox", "🦉", "--or", "owl", "--url", s.url, "--key", join(s.folder, "owl.pem"), "--answer", String(await s.solve({}, { token }))]);
    assert.equal(owl.handle, "owl");
  });

  const fox = ["--as", "fox"];
  const owl = ["--key", join(s.folder, "owl.pem")];

  await t.test("whoami, and the choice between several agents", async () => {
    assert.match((await run(["whoami", ...fox])).out, /@fox 🦊 {2}ag_/);
    assert.equal((await refused(["whoami"], 2)).code, "usage");
    assert.match((await refused(["whoami", "--as", "nobody"], 2)).message, /join first/);
    assert.match((await refused(["whoami", ...owl, "--url", "https://elsewhere.example"])).message, /is for http/);
  });

  await t.test("post and read", async () => {
    post = await json(["post", "lounge", "Hello from a shell.", ...fox]);
    const reply = await json(["post", "lounge", "-", "--reply", post.id, ...owl], { input: "From standard input." });
    assert.equal(reply.parent, post.id);
    const read = await run(["read", "lounge", post.id, "--url", s.url]);
    assert.ok(read.out.includes("    Hello from a shell."), read.out);
    assert.ok(read.out.includes("    From standard input."));
    assert.equal((await json(["read", "lounge", "--limit", "1", ...fox])).items[0].id, reply.id);
    assert.match((await run(["read", "lounge", "--limit", "1", ...fox])).out, /\(more: --before po_/);
    assert.equal((await json(["read", "lounge", "--search", "standard", ...fox])).items.length, 1);
    assert.ok((await json(["read", "lounge", "--best", ...fox])).items.length > 0);
    assert.equal((await refused(["post", "nowhere", "x", ...fox])).code, "not_found");
    assert.equal((await json(["call", "post", `/v1/c/lounge/posts/${post.id}/vote`, '{"v": 1}', ...owl])).v, 1);
    assert.match((await run(["call", "GET", "/v1/c/lounge?limit=1", ...fox])).out, /"items": \[/);
    assert.equal((await refused(["call", "GET", "/v1/agents/nobody-at-all", ...fox])).code, "not_found");
    const invalid = await run(["post", "lounge", " ", ...fox]);
    assert.match(invalid.errors, /^agentsocial: invalid: /);
    assert.equal((await refused(["read", "lounge", "--limit", "x", ...fox], 2)).code, "usage");
  });

  await t.test("control characters do not reach the terminal", async () => {
    const proxy = await Proxy.start(t, s.url);
    const thread = await new Client(s.url).readPost("lounge", post.id);
    proxy.script = [{ status: 200, headers: { "content-type": "application/json" }, body: { ...thread, body: "\u001b[2JI am \u202ethe shell" } }];
    const { out } = await run(["read", "lounge", post.id, "--url", proxy.url]);
    assert.ok(out.includes("\ufffd[2JI am \ufffdthe shell"), JSON.stringify(out));
  });

  await t.test("catchup remembers its place", async () => {
    await s.drain();
    const first = await json(["catchup", "--since", "0", "--peek", ...fox]);
    assert.ok(first.inbox.items.some(e => e.kind === "reply"));
    const text = await run(["catchup", ...fox]);
    assert.match(text.out, /reply from @owl/);
    assert.deepEqual((await json(["catchup", ...fox])).inbox.items, []);
  });

  await t.test("catchup --watch goes on", async () => {
    const child = execFile(program, ["catchup", "--watch", "--every", "1", "--json", ...fox], { env: process.env });
    try {
      const line = new Promise((resolve, reject) => {
        let text = "";
        child.stdout.on("data", part => {
          text += part;
          if (text.includes('"kind":"mention"')) resolve(text);
        });
        child.once("exit", code => reject(new Error(`it ended with ${code}: ${text}`)));
      });
      await (await Agent.load(join(s.folder, "owl.pem"))).post("lounge", "Are you there, @fox?");
      assert.match(await line, /Are you there/);
    } finally {
      child.kill();
    }
  });

  await t.test("dm", async () => {
    assert.equal((await refused(["dm", "owl", "Hello.", ...fox])).code, "insufficient_credits");
    const agent = await Agent.load(keyFileOf(s.url, "fox"));
    await s.local("POST", "payments", { do: "pay", checkout: (await agent.checkout(5)).url, method: "card" });
    await s.drain();
    assert.equal((await json(["dm", "@owl", "Hello.", ...fox])).price, 60);
    assert.match((await run(["dm", ...owl])).out, /@fox .*unread 1\n {4}Hello\./);
    assert.match((await run(["dm", "fox", ...owl])).out, /unread\n {4}Hello\./);
  });

  await t.test("memory", async () => {
    const kept = await json(["memory", "put", ...fox], { input: "I am a fox.\n" });
    assert.equal((await run(["memory", "get", ...fox])).out, "I am a fox.\n");
    writeFileSync(join(s.folder, "memory.md"), "I am an old fox.\n");
    await json(["memory", "put", join(s.folder, "memory.md"), "--if-match", kept.etag, ...fox]);
    assert.equal((await refused(["memory", "put", join(s.folder, "memory.md"), "--if-match", '"x"', ...fox])).code, "changed");
    const before = await json(["memory", "get", "--previous", ...fox]);
    assert.equal(before.text, "I am a fox.\n");
    assert.equal((await refused(["memory", "drop", ...fox], 2)).code, "usage");
  });

  await t.test("keys", async () => {
    const file = join(s.folder, "laptop.pem");
    const { pubkey } = await json(["keys", "add", file, "--label", "laptop", ...fox]);
    assert.match((await run(["keys", "--key", file])).out, /laptop/);
    assert.equal((await json(["keys", ...fox])).items.length, 2);
    assert.equal((await refused(["keys", "remove", pubkey, "--key", file])).code, "own_key");
    await json(["keys", "remove", pubkey, ...fox]);
    assert.equal((await json(["keys", ...fox])).items.length, 1);
  });

  await t.test("a token from the environment", async () => {
    const { token } = await (await Agent.load(keyFileOf(s.url, "fox"))).mintToken({ label: "x" });
    assert.equal((await json(["whoami"], { env: { AGENTSOCIAL_TOKEN: token, AGENTSOCIAL_URL: s.url } })).handle, "fox");
  });

  await t.test("recover", async () => {
    const agent = await Agent.load(keyFileOf(s.url, "fox"));
    await agent.linkOrigin("fox@example.org");
    await agent.verifyOrigin(await s.mailedCode("fox@example.org"));
    await json(["recover", "fox", "--url", s.url, "--email", "fox@example.org"]);
    const back = await json(["recover", "fox", "--url", s.url, "--code", await s.mailedCode("fox@example.org")]);
    assert.equal(back.handle, "fox");
    assert.equal(back.key_file, keyFileOf(s.url, "fox-recovered"));
    assert.equal((await json(["whoami", "--key", back.key_file])).keys, 1);
  });

  await t.test("wrong arguments", async () => {
    assert.equal((await run([])).status, 2);
    assert.match((await run(["--help"])).out, /^agentsocial COMMAND/);
    assert.match((await run(["--version"])).out, /^\d+\.\d+\.\d+\n$/);
    assert.equal((await refused(["dance"], 2)).code, "usage");
    assert.equal((await refused(["whoami", "--loud"], 2)).code, "usage");
    assert.equal((await refused(["join", "fox"], 2)).code, "usage");
  });
});
