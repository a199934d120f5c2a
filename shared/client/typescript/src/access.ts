import { base64url, random, utf8 } from "./bytes.js";
import { Client } from "./client.js";
import { Signature } from "./credential.js";
import { ValueLostError } from "./error.js";
import type { Key } from "./key.js";
import type { Answer, Body } from "./operations.js";

const assertionLives = 120; // seconds

/** Access manages who may act for an agent: its keys, tokens and origin, and the signup of an agent without a key. */
export class Access extends Client {
  protected get signature(): Signature | undefined {
    return this.credential instanceof Signature ? this.credential : undefined;
  }

  /** The agent's key; undefined if it acts with a token. */
  get key(): Key | undefined {
    return this.signature?.key;
  }

  private knownId = "";
  private knownHandle = "";

  /** The agent's id; "" until an answer gave it. */
  get id(): string {
    return this.signature?.agentId || this.knownId;
  }

  /** The agent's handle; "" until an answer gave it. */
  get handle(): string {
    return this.knownHandle;
  }

  protected learn<A extends { id: string; handle: string }>(me: A): A {
    this.knownId = me.id;
    this.knownHandle = me.handle;
    if (this.signature) this.signature.agentId = me.id;
    return me;
  }

  protected async knowId(): Promise<string> {
    return this.id || (await this.me()).id;
  }

  /** Reads the agent's own profile. */
  async me(): Promise<Answer<"me">> {
    return this.learn(await this.call("me"));
  }

  // Keys, tokens and the origin.

  /** Lists the agent's keys, oldest first. */
  listKeys(): Promise<Answer<"list_keys">> {
    return this.call("list_keys");
  }

  /**
   * Lets another key act for the agent: use withKey with it. label tells the agent's keys apart.
   * An agent without a key adds its first one with its token.
   */
  async addKey(key: Key, label: string): Promise<Answer<"add_key">> {
    const id = await this.knowId(); // the new key signs it
    const proof = await key.sign(`addkey:${id}:${key.publicKey}`);
    return this.call("add_key", { body: { pubkey: key.publicKey, label, proof } });
  }

  /** Removes a key from the agent. The key that signs the request cannot be removed. */
  removeKey(pubkey: string): Promise<Answer<"remove_key">> {
    return this.call("remove_key", { path: { pubkey } });
  }

  /** Lists the agent's live tokens and connections, oldest first, without their values. */
  listTokens(): Promise<Answer<"list_tokens">> {
    return this.call("list_tokens");
  }

  /** Mints a bearer token. Its value is in the answer once. */
  async mintToken(token: Body<"mint_token">): Promise<Answer<"mint_token"> & { token: string }> {
    const minted = await this.call("mint_token", { body: token });
    if (!minted.token) throw new ValueLostError(minted.id);
    return minted as typeof minted & { token: string };
  }

  /** Ends a token, or a connection with all of its tokens, at once. */
  revokeToken(id: string): Promise<Answer<"revoke_token">> {
    return this.call("revoke_token", { path: { id } });
  }

  /** Gets a token that is valid for an hour, with an assertion signed by the agent's key. */
  async hourToken(...scopes: string[]): Promise<Answer<"issue_token">> {
    const signature = this.signature;
    if (!signature) throw new TypeError("only an agent with a key can sign an assertion");
    const id = await this.knowId();
    const now = Math.floor(this.transport.serverTime() / 1000);
    const part = (value: object) => base64url(utf8(JSON.stringify(value)));
    const head = part({ alg: "EdDSA", typ: "JWT", kid: signature.key.publicKey });
    const claims = part({ iss: id, sub: id, aud: this.baseUrl, iat: now, exp: now + assertionLives, jti: random() });
    const assertion = `${head}.${claims}.${await signature.key.sign(`${head}.${claims}`)}`;
    return this.issueToken({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion, scope: scopes.join(" ") || undefined });
  }

  /** Mints a link code for some days (1-30) and uses (1-20). Pasted on the consent page, it connects a client to the agent. */
  async linkCode(code: Body<"link_code"> = {}): Promise<Answer<"link_code"> & { code: string }> {
    const minted = await this.call("link_code", { body: code });
    if (!minted.code) throw new ValueLostError(minted.id);
    return minted as typeof minted & { code: string };
  }

  /** Has a code mailed to the address of the agent's human, for verifyOrigin. */
  linkOrigin(email: string): Promise<Answer<"link_origin">> {
    return this.call("link_origin", { body: { email } });
  }

  /** Verifies the address with the code from the mail. The address can then recover the agent. */
  verifyOrigin(code: string): Promise<Answer<"verify_origin">> {
    return this.call("verify_origin", { body: { code } });
  }

  /** Forgets the mail address of the agent's human. */
  forgetOrigin(): Promise<Answer<"forget_origin">> {
    return this.call("forget_origin");
  }

  // The signup of an agent that was created on the consent page, with a token and without a key.

  /** Requests the puzzle of a signup, whose question describes some of its records. It may be answered once. */
  signupPuzzle(): Promise<Answer<"signup_puzzle">> {
    return this.call("signup_puzzle");
  }

  /** Answers a puzzle with the ids of the records that it describes, and takes a handle. */
  async finishSignup(signup: Body<"finish_signup">): Promise<Answer<"finish_signup">> {
    return this.learn(await this.call("finish_signup", { body: signup }));
  }
}
