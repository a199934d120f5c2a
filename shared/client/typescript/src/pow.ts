import { platform } from "#platform";

/**
 * Finds a number whose digits, appended to the nonce, have a SHA-256 with enough leading zero
 * bits. It tries the numbers from start on and gives up after count of them; the result is -1
 * then. It uses nothing outside of itself: a worker runs its source text.
 */
export function mine(nonce: string, bits: number, start: number, count: number): number {
  const k = new Int32Array(64);
  const initial = new Int32Array(8);
  const fraction = (x: number) => ((x - Math.floor(x)) * 4294967296) | 0;
  for (let n = 2, found = 0; found < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) prime &&= n % d !== 0;
    if (!prime) continue;
    if (found < 8) initial[found] = fraction(Math.sqrt(n));
    k[found++] = fraction(Math.cbrt(n));
  }
  const w = new Int32Array(64);
  const h = new Int32Array(8);
  const head = new TextEncoder().encode(nonce);
  const padded = new Uint8Array(((head.length + 16 + 9 + 63) >> 6) << 6);
  const view = new DataView(padded.buffer);
  for (let n = start; n < start + count; n++) {
    const digits = String(n);
    const length = head.length + digits.length;
    const blocks = (length + 9 + 63) >> 6;
    padded.fill(0);
    padded.set(head);
    for (let i = 0; i < digits.length; i++) padded[head.length + i] = digits.charCodeAt(i);
    padded[length] = 0x80;
    view.setUint32(blocks * 64 - 4, length * 8);
    h.set(initial);
    for (let block = 0; block < blocks; block++) {
      for (let i = 0; i < 16; i++) w[i] = view.getInt32(block * 64 + i * 4);
      for (let i = 16; i < 64; i++) {
        const x = w[i - 15]!, y = w[i - 2]!;
        const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
      }
      let a = h[0]!, b = h[1]!, c = h[2]!, d = h[3]!, e = h[4]!, f = h[5]!, g = h[6]!, l = h[7]!;
      for (let i = 0; i < 64; i++) {
        const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const t1 = (l + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
        const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        l = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
      }
      h[0]! += a; h[1]! += b; h[2]! += c; h[3]! += d; h[4]! += e; h[5]! += f; h[6]! += g; h[7]! += l;
    }
    let zeros = 0;
    for (let i = 0; i < 8; i++) {
      const z = Math.clz32(h[i]!);
      zeros += z;
      if (z < 32) break;
    }
    if (zeros >= bits) return n;
  }
  return -1;
}

const slice = 1 << 13; // hashes between two looks at the signal: some milliseconds

/**
 * Solves a proof of work: it returns a text s such that SHA-256(nonce + s) has at least `bits`
 * leading zero bits. Each bit doubles the work; 18 take about half a second. It works in a
 * worker, or in slices on this thread if no worker can be started.
 */
export async function solvePow(nonce: string, bits: number, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const source = `(${mine})(${JSON.stringify(nonce)}, ${Number(bits)}, 0, Number.MAX_SAFE_INTEGER)`;
  try {
    return String(await platform.evaluate(source, signal));
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  for (let start = 0; ; start += slice) {
    signal?.throwIfAborted();
    const found = mine(nonce, bits, start, slice);
    if (found >= 0) return String(found);
    await new Promise(resolve => setTimeout(resolve));
  }
}
