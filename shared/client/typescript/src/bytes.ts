const encoder = new TextEncoder();

/** Returns a text as UTF-8. */
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** Returns bytes in base64url without padding (RFC 4648 section 5). */
export function base64url(bytes: Uint8Array): string {
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Reads base64url, or base64, with or without padding. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/").replace(/[\s=]/g, ""));
  return Uint8Array.from(binary, c => c.charCodeAt(0));
}

/** Returns the SHA-256 of bytes in lower-case hexadecimal. */
export async function sha256hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(sum, b => b.toString(16).padStart(2, "0")).join("");
}

/** Returns a text of 128 random bits that nobody can guess. */
export const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(16)));
