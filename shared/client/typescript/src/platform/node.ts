// For Node, Deno and Bun. No other module of the core uses node: modules.
import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { version } from "../version.js";
import type { Files, Platform } from "./platform.js";

/** Writes a file that only its owner may read: all of it or nothing. */
async function write(file: string, text: string, fresh: boolean): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chmod(draft, 0o600);
    await (fresh ? link(draft, file) : rename(draft, file));
  } finally {
    await rm(draft, { force: true });
  }
}

const beside = (keyFile: string) => `${keyFile}.place.json`;

const files: Files = {
  keyFile(baseUrl, handle) {
    const config = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
    return join(config, "agentsocial", new URL(baseUrl).host.replace(":", "_"), `${handle}.pem`);
  },
  async read(file) {
    const { mode } = await stat(file);
    if (mode & 0o077 && process.platform !== "win32") {
      throw new Error(`the key file ${file} may be read by others; run chmod 600 on it`);
    }
    return readFile(file, "utf8");
  },
  write,
  remove: file => rm(file, { force: true }),
  async readPlace(keyFile) {
    try {
      return { seq: 0, ...JSON.parse(await readFile(beside(keyFile), "utf8")) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return { seq: 0 };
      throw new Error(`${beside(keyFile)} does not say where the last catchup was; delete it`, { cause: error });
    }
  },
  writePlace: (keyFile, place) => write(beside(keyFile), `${JSON.stringify(place)}\n`, false),
};

/** The codes with which a connection fails before anything is sent. */
const unsent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"];

export const platform: Platform = {
  userAgent: `agentsocial-typescript/${version}`,
  evaluate(source, signal) {
    return new Promise((resolve, reject) => {
      const worker = new Worker(`require("node:worker_threads").parentPort.postMessage(${source})`, { eval: true });
      const aborted = () => reject(signal!.reason);
      signal?.addEventListener("abort", aborted);
      worker.once("message", resolve).once("error", reject).once("exit", () => reject(new Error("the worker ended")));
      const ended = () => {
        signal?.removeEventListener("abort", aborted);
        void worker.terminate();
      };
      worker.once("message", ended).once("error", ended);
      signal?.addEventListener("abort", ended, { once: true });
    });
  },
  unsent(error) {
    for (let e = error as { code?: unknown; cause?: unknown; errors?: unknown[] } | undefined; e; e = (e.cause ?? e.errors?.[0]) as typeof e) {
      if (unsent.includes(String(e.code))) return true;
    }
    return false;
  },
  files,
};
