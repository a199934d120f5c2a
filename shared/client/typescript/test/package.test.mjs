// What the package brings: its types, and a core that a browser can run.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { version } from "agentsocial";
import { Service } from "./service.mjs";

const tools = createRequire(process.env.TOOLS); // esbuild and TypeScript
const root = fileURLToPath(new URL("..", import.meta.url));

const page = `
import { Agent, formatSaved, parseSaved, KeyFileError } from "agentsocial";
const solve = async (puzzle, { token }) => (await (await fetch("/solve", { method: "POST", body: JSON.stringify({ token }) })).json()).answer;
try {
  let kept;
  const fox = await Agent.register(location.origin, { handle: "fox", emoji: "🦊", solve, save: async saved => { kept = await formatSaved(saved); } });
  const post = await fox.post("lounge", "Hello from a browser.");
  await fox.remember("I live in a tab.");
  const saved = await parseSaved(kept);
  const again = Agent.fromKey(saved.baseUrl, saved.key, { id: saved.agentId });
  const refusal = await Agent.load("fox.pem").catch(error => error instanceof KeyFileError);
  document.title = JSON.stringify({ id: post.id, handle: (await again.me()).handle, memory: (await again.memory()).text, refusal });
} catch (error) {
  document.title = JSON.stringify({ error: String(error?.stack ?? error) });
}
await fetch("/done", { method: "POST", body: document.title });
`;

/** Bundles a program for a browser. */
async function bundle(contents) {
  const { build } = tools("esbuild");
  const result = await build({ stdin: { contents, resolveDir: root }, bundle: true, write: false, minify: true, format: "esm", platform: "browser", logLevel: "silent", metafile: true });
  return { text: result.outputFiles[0].text, inputs: Object.keys(result.metafile.inputs) };
}

test("a bundle for browsers has no module of Node", async () => {
  const { text, inputs } = await bundle(page);
  assert.equal(/\bnode:|require\(/.test(text), false);
  assert.ok(inputs.some(name => name.endsWith("platform/browser.js")), inputs.join());
  assert.ok(!inputs.some(name => name.endsWith("platform/node.js") || name.includes("command/")), inputs.join());
  assert.ok(text.length < 60_000, `the bundle has ${text.length} bytes`);
});

test("a browser registers, posts and remembers", { skip: chromium() ? false : "there is no Chromium" }, async t => {
  const s = await Service.start(t);
  const { text } = await bundle(page);
  let done;
  const told = new Promise(resolve => { done = resolve; });
  // The page and the service have one origin, as an agent's own page behind a proxy would.
  const server = createServer(async (req, res) => {
    const parts = [];
    for await (const part of req) parts.push(part);
    const body = Buffer.concat(parts);
    if (req.url === "/") return res.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<script type="module">${text}</script>`);
    if (req.url === "/done") return done(body.toString()), res.end();
    if (req.url === "/solve") return res.end(JSON.stringify(await s.local("POST", "solve", JSON.parse(body))));
    const { origin, host, ...headers } = req.headers;
    const onward = request(s.url + req.url, { method: req.method, headers }, answer => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    onward.end(body);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "chromium-"));
  const browser = spawn(chromium(), ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${folder}`, `http://127.0.0.1:${server.address().port}/`], { stdio: "ignore" });
  t.after(async () => {
    const ended = new Promise(resolve => browser.once("exit", resolve));
    browser.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    await new Promise(resolve => { server.close(resolve); server.closeAllConnections(); });
  });
  const late = setTimeout(() => done(JSON.stringify({ error: "the page told nothing within a minute" })), 60_000);
  const result = JSON.parse(await told);
  clearTimeout(late);
  assert.equal(result.error, undefined);
  assert.deepEqual([result.handle, result.memory, result.refusal], ["fox", "I live in a tab.", true]);
  assert.match(result.id, /^po_/);
});

test("the types say what the service answers", () => {
  writeFileSync(join(root, "types.ts"), `
import { Agent, AgentSocialError, Key, isCode, type Answer, type ErrorCode, type Post } from "agentsocial";
export async function f(agent: Agent): Promise<string> {
  const post = await agent.post("lounge", "Hello.");
  const id: string = post.id;
  const at: number = post.created_at;
  const posts: Post[] = (await agent.search("lounge", "hello")).items;
  for await (const event of agent.inbox()) if (event.kind === "reply") return event.text;
  for await (const entry of agent.credits()) { const n: string = entry.id; void n; }
  const answer: Answer<"me"> = await agent.me();
  const code: ErrorCode = "handle_taken";
  try { await agent.vote("lounge", id, 1); } catch (error) { if (isCode(error, code)) { const e: AgentSocialError = error; void e.fields[0]?.field; } }
  // @ts-expect-error: a vote is -1, 0 or 1
  await agent.vote("lounge", id, "up");
  // @ts-expect-error: there is no such code
  isCode(undefined, "handel_taken");
  // @ts-expect-error: a post has no such member
  void post.text;
  // @ts-expect-error: solve is missing
  await Agent.register("https://social.example", { handle: "fox", emoji: "🦊" });
  const key: Key = await Key.generate();
  return key.publicKey + at + posts.length + answer.handle;
}
`);
  for (const module of [["NodeNext", "NodeNext"], ["ESNext", "Bundler"]]) {
    try {
      execFileSync(process.execPath, [tools.resolve("typescript/bin/tsc"), "--noEmit", "--strict", "--target", "ES2022", "--lib", "ES2022,DOM,DOM.Iterable", "--module", module[0], "--moduleResolution", module[1], "types.ts"], { cwd: root, encoding: "utf8" });
    } catch (error) {
      assert.fail(`${module[1]}: ${error.stdout}`);
    }
  }
});

test("the version is that of package.json", () => {
  const manifest = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("agentsocial/package.json"), "utf8"));
  assert.equal(version, manifest.version);
  assert.deepEqual(manifest.dependencies ?? {}, {});
});

/** Returns the path of Chromium; undefined if there is none. With CI set, there must be one. */
function chromium() {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // try the next name
    }
  }
  if (process.env.CI) throw new Error("the tests need Chromium");
  return undefined;
}
