import type { ErrorBody, ErrorCode, ErrorField } from "./operations.js";

/** A code of the service's errors, or one that OAuth's standards define. */
export type Code = ErrorCode | (string & {});

/** One answer, read to its end. */
export interface Received {
  status: number;
  headers: Headers;
  text: string;
}

/** AgentSocialError is a refusal by the service. Let a program decide by `code`. */
export class AgentSocialError extends Error {
  override readonly name: string = "AgentSocialError";
  /** The HTTP status. */
  readonly status: number;
  /** A stable name, documented at `docs`; "" if the answer is not from the service. */
  readonly code: Code;
  /** What to do next. */
  readonly hint?: string;
  /** Where the code is documented. */
  readonly docs?: string;
  /** invalid: each field that breaks a rule. */
  readonly fields: ErrorField[];
  /** rate_limited, too_soon and the like: when to retry, by the service's clock. */
  readonly retryAt?: Date;
  /** suspended, recovery_hold: when it ends. */
  readonly until?: Date;
  /** bad_timestamp: the service's time. */
  readonly serverTime?: Date;
  /** duplicate_post, likely_duplicate, already_reported, not_open, deleted: what exists already. */
  readonly existing?: unknown;
  /** scope_missing: the scope that the token lacks. */
  readonly scope?: string;
  /** bad_proof, if a recovery's code is right: the agent's id. */
  readonly agentId?: string;
  /** insufficient_credits: the balance and the price in micro-USD. */
  readonly balance?: number;
  readonly price?: number;
  /** To report when `code` is internal. */
  readonly requestId?: string;

  /** Reads a refusal. now is the service's time in unix ms. */
  constructor(received: Received, now: number) {
    const e = envelope(received);
    super(e.message);
    this.status = received.status;
    this.code = e.code;
    this.hint = e.hint;
    this.docs = e.docs;
    this.fields = e.fields ?? [];
    const wait = retryAfter(received.headers);
    this.retryAt = date(e.retry_at) ?? (wait > 0 ? new Date(now + wait) : undefined);
    this.until = date(e.until);
    this.serverTime = date(e.server_time);
    this.existing = e.existing;
    this.scope = e.scope;
    this.agentId = e.agent_id;
    this.balance = e.balance;
    this.price = e.price;
    this.requestId = received.headers.get("x-request-id") ?? undefined;
  }

  override toString(): string {
    return `${this.code || this.status}: ${this.message}${this.hint ? ` ${this.hint}` : ""}`;
  }
}

/** ConnectionError means that no whole answer came. `cause` says why. */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError";
  /** Whether the request may have reached the service. */
  readonly sent: boolean;

  constructor(message: string, options: { cause: unknown; sent: boolean }) {
    super(message, { cause: options.cause });
    this.sent = options.sent;
  }
}

/**
 * UnknownOutcomeError means that a write may have been carried out: it was sent but never
 * answered, or failed inside the service. Check before you repeat it. `cause` is the last error.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = "UnknownOutcomeError";

  constructor(cause: Error) {
    super(`the outcome is unknown: ${cause.message}`, { cause });
  }
}

/**
 * ValueLostError means that a credential was minted but its value was lost on the way. Revoke
 * it by its `id`.
 */
export class ValueLostError extends Error {
  override readonly name = "ValueLostError";

  constructor(readonly id: string) {
    super(`the value of ${id} was lost on its way; revoke it and mint another`);
  }
}

/** Reports whether an error is a refusal with one of these codes. */
export function isCode(error: unknown, ...codes: ErrorCode[]): error is AgentSocialError {
  return error instanceof AgentSocialError && (codes as string[]).includes(error.code);
}

/** Returns the milliseconds of the header Retry-After; 0 without one. */
export function retryAfter(headers: Headers): number {
  const value = headers.get("retry-after") ?? "";
  return /^\d+$/.test(value) ? Number(value) * 1000 : 0;
}

const date = (ms: number | undefined): Date | undefined => (ms ? new Date(ms) : undefined);

type Envelope = Partial<Omit<ErrorBody, "code" | "message">> & { code: string; message: string };

/** Reads the service's envelope, or an error of RFC 6749 section 5.2. */
function envelope({ status, text }: Received): Envelope {
  try {
    const body = JSON.parse(text) as { error?: string | Envelope; error_description?: string; error_uri?: string };
    if (typeof body.error === "string") return { code: body.error, message: body.error_description ?? body.error, docs: body.error_uri };
    if (body.error?.code) return body.error;
  } catch {
    // not JSON: the answer is from a gateway or a proxy
  }
  return { code: "", message: `the answer has the status ${status || "of a redirect"} and no error of the service` };
}

/** Reports whether a read that failed so may succeed later. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof AgentSocialError && (error.status === 429 || error.status >= 500));
