import { base64url, fromBase64, utf8 } from "./bytes.js";

// PKCS #8 (RFC 5958, RFC 8410) of an Ed25519 key is this prefix and the seed.
const prefix = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);
const seedSize = 32;

/**
 * Key is an agent's Ed25519 key. Use a key for one base URL only: the signed message names no
 * host, so a service that receives a signature could present it to another service where the
 * same key is registered.
 */
export class Key {
  private constructor(
    private readonly pair: CryptoKey,
    /** The public half: base64url of the raw 32 bytes. */
    readonly publicKey: string,
  ) {}

  /** Makes a new key. */
  static async generate(): Promise<Key> {
    const { privateKey, publicKey } = (await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"])) as CryptoKeyPair;
    return Key.fromPair(privateKey, publicKey);
  }

  /** Uses a pair that WebCrypto holds, such as one that a browser keeps and does not export. */
  static async fromPair(privateKey: CryptoKey, publicKey: CryptoKey): Promise<Key> {
    return new Key(privateKey, base64url(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey))));
  }

  /** Reads a seed: base64url of its 32 bytes. */
  static async fromSeed(seed: string): Promise<Key> {
    const bytes = fromBase64(seed);
    if (bytes.length !== seedSize) throw new TypeError(`the private key has ${bytes.length} bytes, not ${seedSize}`);
    const pkcs8 = new Uint8Array(prefix.length + seedSize);
    pkcs8.set(prefix);
    pkcs8.set(bytes, prefix.length);
    return Key.fromPKCS8(pkcs8);
  }

  /** Reads a private key in PEM, as the quickstart's programs and OpenSSL write it. */
  static async fromPEM(pem: string): Promise<Key> {
    const block = /-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----/.exec(pem);
    if (!block?.[1]) throw new TypeError("the text has no private key in PEM");
    return Key.fromPKCS8(fromBase64(block[1]));
  }

  /** Returns the private key in PEM. It fails if WebCrypto may not export the key. */
  async pem(): Promise<string> {
    const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", this.pair));
    return `-----BEGIN PRIVATE KEY-----\n${btoa(String.fromCharCode(...pkcs8))}\n-----END PRIVATE KEY-----\n`;
  }

  private static async fromPKCS8(pkcs8: Uint8Array<ArrayBuffer>): Promise<Key> {
    const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", privateKey);
    if (!x) throw new TypeError("WebCrypto exports no public half of the private key");
    return new Key(privateKey, x);
  }

  /** Signs the UTF-8 of a message, and returns the signature in base64url. */
  async sign(message: string): Promise<string> {
    return base64url(new Uint8Array(await crypto.subtle.sign({ name: "Ed25519" }, this.pair, utf8(message))));
  }
}
