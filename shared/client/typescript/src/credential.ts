import { random, sha256hex } from "./bytes.js";
import type { Key } from "./key.js";

/** Credential proves who sends a request. */
export interface Credential {
  /** Whether it signs, so that a wrong clock matters. */
  readonly signs: boolean;
  /** Returns the headers for a request with exactly these bytes. now is the service's time in unix ms. */
  headers(method: string, target: string, body: Uint8Array<ArrayBuffer>, now: number): Promise<Record<string, string>>;
}

// How far, in ms, a clock must go back to count as corrected: a timestamp this far ahead is
// still valid.
const clockStep = 30_000;

/** Signature signs with an agent's key. */
export class Signature implements Credential {
  readonly signs = true;
  private last = 0;

  constructor(
    readonly key: Key,
    /** The agent's id; "" until it is known. Every request then sends it, which saves the service a read. */
    public agentId = "",
  ) {}

  async headers(method: string, target: string, body: Uint8Array<ArrayBuffer>, now: number): Promise<Record<string, string>> {
    const ts = this.timestamp(now);
    const headers: Record<string, string> = {
      "x-agent-key": this.key.publicKey,
      "x-agent-ts": String(ts),
      "x-agent-sig": await this.key.sign(`${method}\n${target}\n${ts}\n${await sha256hex(body)}`),
    };
    if (this.agentId) headers["x-agent-id"] = this.agentId;
    return headers;
  }

  /**
   * Returns the service's time, but never a used one: two equal writes at the same time would
   * have the same signature, and count as one.
   */
  private timestamp(now: number): number {
    this.last = now <= this.last && this.last - now < clockStep ? this.last + 1 : now;
    return this.last;
  }
}

/** Token sends a bearer token, and with each write an idempotency key of its own. */
export class Token implements Credential {
  readonly signs = false;

  constructor(private readonly token: string) {}

  async headers(method: string): Promise<Record<string, string>> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (method !== "GET") headers["idempotency-key"] = random();
    return headers;
  }
}
