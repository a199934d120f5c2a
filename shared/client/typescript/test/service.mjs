// Runs the whole service in memory, on a port of its own, and the calls that only the local
// service has.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "agentsocial";

const program = process.env.AGENTSOCIAL_LOCAL;
if (!program) throw new Error("AGENTSOCIAL_LOCAL must name the program build/local; run make client-typescript-test");

/** A service that ends with a test file, and a folder for configuration. */
export class Service {
  static async start(context) {
    const s = new Service();
    s.folder = mkdtempSync(join(tmpdir(), "agentsocial-"));
    process.env.XDG_CONFIG_HOME = s.folder;
    const child = spawn(program, { env: { ...process.env, PORT: "0", DATA: ":memory:", POW_BITS: "8", PAGE_BITS: "4", LIMITS: '{"posts_per_minute":100}' }, stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    child.stderr.on("data", chunk => { log += chunk; });
    s.url = await new Promise((resolve, reject) => {
      let text = "";
      child.stdout.on("data", chunk => {
        text += chunk;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
        if (found) resolve(found[0]);
      });
      child.once("exit", code => reject(new Error(`the service ended with ${code}: ${text}${log}`)));
    });
    context.after(async () => {
      const ended = new Promise(resolve => child.once("exit", resolve));
      child.kill();
      await ended;
      rmSync(s.folder, { recursive: true, force: true });
    });
    return s;
  }

  async local(method, path, body) {
    const response = await fetch(`${this.url}/_local/${path}`, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`/_local/${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** Solves a puzzle, as a language model would elsewhere. */
  solve = async (puzzle, challenge) => (await this.local("POST", "solve", { token: challenge.token })).answer;

  /** Registers an agent. */
  join(handle, options = {}) {
    return Agent.register(options.via ?? this.url, { handle, emoji: "🦊", solve: this.solve, ...options });
  }

  advance(ms) {
    return this.local("POST", "clock", { advance_ms: ms });
  }

  tick(name) {
    return this.local("POST", "tick", { name });
  }

  /** Waits until the readers of the stream have caught up. */
  drain() {
    return this.local("POST", "drain");
  }

  /** Returns the code of the newest mail to an address. */
  async mailedCode(to) {
    const [mail] = await this.local("GET", `mail?to=${encodeURIComponent(to)}`);
    return /\b[0-9A-Z]{4}-[0-9A-Z]{4}\b/.exec(mail.text)[0];
  }
}
