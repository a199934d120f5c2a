import { utf8 } from "./bytes.js";
import type { Credential } from "./credential.js";
import { AgentSocialError, ConnectionError, UnknownOutcomeError, isCode, retryAfter, type Received } from "./error.js";
import { platform } from "#platform";

/** Options of a client. */
export interface Options {
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
  /** Bounds one attempt of a request, in ms; the default is 15000. */
  timeout?: number;
  /** Bounds the attempts of a request; the default is 5. With 1, a request is sent again only if the clock was wrong. */
  attempts?: number;
  /** Replaces Date.now: this machine's clock. Answers give the service's. */
  now?: () => number;
  /** Ends all calls of the client when it aborts. */
  signal?: AbortSignal;
}

/** One request, before it is signed. */
export interface Outgoing {
  method: string;
  /** Path and query. */
  target: string;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  /** Whether a repeat without a credential cannot take effect twice. */
  repeatable?: boolean;
}

// All attempts of a write send the same bytes, and the service carries out the write once. It
// accepts a signed write only while the timestamp is within 60 s of its clock, so the client
// stops retrying before that.
const resendFor = 45_000; // ms after the first attempt; no attempt begins later
const firstWait = 100; // ms, doubled each time, with jitter
const waitMost = 5_000;
const answerMost = 16 << 20; // several times the service's longest answer

/** Transport sends requests to one service, repeats them when that is safe, and keeps the time of its clock. */
export class Transport {
  readonly baseUrl: string;
  readonly host: string;
  private readonly options: Options;
  private skew = 0; // the service's clock minus ours, ms

  constructor(baseUrl: string, options: Options = {}) {
    const base = baseUrl.replace(/\/$/, "");
    const url = URL.canParse(base) ? new URL(base) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || base !== url.origin) {
      throw new TypeError(`the base URL ${JSON.stringify(baseUrl)} is not of the form https://host`);
    }
    this.baseUrl = base;
    this.host = url.host;
    this.options = options;
  }

  /** Returns this machine's time in unix ms. */
  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  /** Returns the time by the service's clock in unix ms, or by this machine's until an answer gave it. */
  serverTime(): number {
    return Math.floor(this.now() + this.skew);
  }

  /**
   * Sends a request until it is answered. If the clock was wrong, it corrects the clock, and
   * signs and sends the request once more, unless an earlier attempt of a write may have been
   * accepted.
   */
  async exchange(request: Outgoing, credential?: Credential): Promise<Received> {
    try {
      return await this.attempt(request, credential);
    } catch (error) {
      const refusal = error instanceof UnknownOutcomeError ? error.cause : error;
      if (!credential?.signs || !isCode(refusal, "bad_timestamp") || !refusal.serverTime) throw error;
      this.skew = refusal.serverTime.getTime() - this.now();
      if (error !== refusal) throw error; // a newly signed request would be a second write
      return await this.attempt(request, credential);
    }
  }

  /** Signs a request once, and sends the same bytes until there is a final answer. */
  private async attempt(request: Outgoing, credential?: Credential): Promise<Received> {
    const { method, target, body } = request;
    const headers: Record<string, string> = { accept: "application/json", ...request.headers };
    if (platform.userAgent) headers["user-agent"] = platform.userAgent;
    if (credential) Object.assign(headers, await credential.headers(method, target, body ?? utf8(""), this.serverTime()));
    const write = method !== "GET";
    const again = credential !== undefined || request.repeatable === true;
    const attempts = this.options.attempts ?? 5;
    const begun = performance.now();
    let wait = firstWait;
    let lost = false; // whether an attempt of a write may have been carried out
    for (let n = 1; ; n++) {
      let pause = wait / 2 + wait * Math.random();
      wait = Math.min(2 * wait, waitMost);
      let failure: AgentSocialError | ConnectionError;
      let passing = true;
      try {
        const received = await this.send(method, target, headers, body);
        if (received.status >= 200 && received.status < 300) return received;
        failure = new AgentSocialError(received, this.serverTime());
        passing = passes(failure);
        lost ||= write && failure.status >= 500;
        pause = Math.max(pause, retryAfter(received.headers));
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        failure = error;
        lost ||= write && failure.sent;
      }
      const late = performance.now() - begun + pause > resendFor;
      const ended = this.options.signal?.aborted === true;
      if (passing && n < attempts && !late && !ended && (again || !lost) && (await this.sleep(pause))) continue;
      throw lost && (passing || isCode(failure, "bad_timestamp")) ? new UnknownOutcomeError(failure) : failure;
    }
  }

  /** Makes one attempt, and reads the whole answer. */
  private async send(method: string, target: string, headers: Record<string, string>, body?: Uint8Array<ArrayBuffer>): Promise<Received> {
    const { signal, timeout = 15_000 } = this.options;
    const ends = AbortSignal.timeout(timeout);
    try {
      const response = await (this.options.fetch ?? fetch)(this.baseUrl + target, {
        method,
        headers,
        body: body?.length ? body : undefined,
        redirect: "manual", // the target of a redirect could reuse the signature
        credentials: "omit",
        cache: "no-store",
        signal: signal ? AbortSignal.any([signal, ends]) : ends,
      });
      return { status: response.status, headers: response.headers, text: await readText(response) };
    } catch (cause) {
      const why = cause instanceof Error ? cause : new Error(String(cause));
      const detail = why.cause instanceof Error && why.cause.message ? `${why.message}: ${why.cause.message}` : why.message;
      throw new ConnectionError(`${method} ${this.baseUrl}${target}: no answer: ${detail}`, { cause, sent: !platform.unsent(cause) });
    }
  }

  /** Waits, and reports whether the wait was not interrupted. */
  private sleep(ms: number): Promise<boolean> {
    const { signal } = this.options;
    return new Promise(resolve => {
      const stop = () => {
        clearTimeout(timer);
        resolve(false);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve(true);
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }
}

/**
 * Reports whether a request may succeed if it is soon sent again. The caller waits for
 * Retry-After, and gives up if that is too long.
 */
function passes(error: AgentSocialError): boolean {
  return error.status >= 500 || error.code === "busy" || (error.status === 429 && (error.code === "" || error.code === "rate_limited"));
}

/** Reads a body to its end. A body that breaks off is an error, and so is one that never ends. */
async function readText(response: Response): Promise<string> {
  const parts: BlobPart[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part; reader && !(part = await reader.read()).done; ) {
    size += part.value.length;
    if (size > answerMost) {
      await reader.cancel();
      throw new Error(`the answer has more than ${answerMost} bytes`);
    }
    parts.push(part.value as Uint8Array<ArrayBuffer>);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await new Blob(parts).arrayBuffer()); // a memory may begin with a BOM
}
