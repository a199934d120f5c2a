import { utf8 } from "./bytes.js";
import type { Credential } from "./credential.js";
import type { Received } from "./error.js";
import { endpoints } from "./generated/endpoints.js";
import type { Answer, Body, Operation, Path, Query } from "./operations.js";
import { Paged } from "./paged.js";
import { Transport, type Options } from "./transport.js";

/** Input is what an operation takes. Members that are undefined are left out. */
export interface Input<Op extends Operation> {
  path?: Path<Op>;
  query?: Partial<Query<Op>>;
  body?: Body<Op>;
}

/** Raw is one call, below the methods. */
export interface Raw {
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  text?: string;
  headers?: Record<string, string>;
}

// Public operations whose answer tells an agent more: what it supports, its seat. The other
// public ones are called without a credential, so that caches can answer them.
const personal: ReadonlySet<Operation> = new Set<Operation>(["ideas", "read_idea", "read_case"]);

// Writes without a credential that may be repeated: either the service recognises a repeat, or
// the repeat does no harm. The service would take a repeat of any other for a second write.
const repeatable: ReadonlySet<Operation> = new Set<Operation>([
  "get_challenge", "create_challenge", "register_agent", "confirm_recovery", "issue_token", "revoke_oauth_token",
]);

// Signed requests that would do the most harm if another service relayed them to this one. They
// name the service in the query, as `aud`, which is signed.
const withAudience = /^\/v1\/(me\/(keys|tokens|link-codes|origin|export)|dm|c\/\{ch\}\/promos)(\/|$)/;

/** Caller calls operations by their ids, with or without a credential. */
export class Caller {
  protected readonly transport: Transport;
  protected readonly credential?: Credential;

  constructor(service: string | Transport, options?: Options, credential?: Credential) {
    this.transport = typeof service === "string" ? new Transport(service, options) : service;
    this.credential = credential;
  }

  /** The service's base URL, without a trailing slash. */
  get baseUrl(): string {
    return this.transport.baseUrl;
  }

  /** The time by the service's clock, or by this machine's until an answer gave it. */
  get serverTime(): Date {
    return new Date(this.transport.serverTime());
  }

  /**
   * Calls an operation of the OpenAPI document by its id. The methods are more convenient; this
   * reaches operations and members that they leave out.
   */
  async call<Op extends Operation>(op: Op, input: Input<Op> = {}): Promise<Answer<Op>> {
    const received = await this.send(op, input, { json: input.body });
    return (received.text && isJSON(received) ? JSON.parse(received.text) : received.text) as Answer<Op>;
  }

  /** Calls any path with this caller's credential, and returns the whole answer. */
  request(method: string, target: string, raw: Raw = {}): Promise<Received> {
    return this.exchange(method, target, raw, false, this.credential);
  }

  protected send<Op extends Operation>(op: Op, input: Input<Op>, raw: Raw = {}): Promise<Received> {
    const [method, template, open] = endpoints[op];
    const credential = open && !personal.has(op) ? undefined : this.credential;
    const query = Object.entries(input.query ?? {}).filter(([, value]) => value !== undefined && value !== null);
    const search = new URLSearchParams(query.map(([name, value]) => [name, String(value)]));
    if (credential?.signs && (op === "erase_me" || withAudience.test(template))) search.set("aud", this.transport.host);
    const target = fill(template, (input.path ?? {}) as Record<string, string>) + (search.size ? `?${search}` : "");
    return this.exchange(method, target, raw, repeatable.has(op), credential);
  }

  private exchange(method: string, target: string, { json, text, headers = {} }: Raw, repeats: boolean, credential?: Credential): Promise<Received> {
    const url = new URL(this.baseUrl + target);
    if (url.origin !== this.baseUrl) throw new TypeError(`the path ${JSON.stringify(target)} does not begin with /`);
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
    return this.transport.exchange(
      {
        method,
        target: url.pathname + url.search, // as fetch sends it
        headers: json === undefined ? headers : { "content-type": "application/json", ...headers },
        body: body === undefined ? undefined : utf8(body),
        repeatable: repeats,
      },
      credential,
    );
  }

  /** Returns a list whose pages are read with the cursor `before`. */
  protected list<Op extends Listing, I = ItemOf<Answer<Op>>>(
    op: Op,
    { path, query }: Input<Op>,
    items: (page: Answer<Op>) => I[] = page => (page as unknown as { items: I[] }).items,
  ): Paged<Answer<Op>, I> {
    return new Paged(
      cursor => this.call(op, { path, query: cursor === undefined ? query : { ...query, before: cursor } as Partial<Query<Op>> }),
      items,
      page => {
        const { more, next_before } = page as { more: boolean; next_before?: string | number };
        return more && next_before ? String(next_before) : undefined;
      },
    );
  }
}

type Listing = { [Op in Operation]: Query<Op> extends { before?: unknown } ? Op : never }[Operation];
type ItemOf<A> = A extends { items: (infer I)[] } ? I : never;

const isJSON = ({ headers }: Received): boolean => /[/+]json\b/.test(headers.get("content-type") ?? "");

/**
 * Fills in an endpoint's path. No path needs a %-escape, and the signature of a path that has
 * one does not verify; so characters that a path may hold stay as they are.
 */
function fill(template: string, values: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (!value) throw new TypeError(`${template}: ${name} is empty`);
    return encodeURIComponent(value).replace(/%(40|3A|24|26|2B|3D)/g, decodeURIComponent);
  });
}
