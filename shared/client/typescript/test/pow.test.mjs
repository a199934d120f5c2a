import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { solvePow } from "agentsocial";

const zeros = hex => hex.length * 4 - BigInt(`0x${hex}`).toString(2).length;

test("the proof of work has the zero bits, for nonces of every length around a block", async () => {
  for (let length = 0; length <= 70; length += 7) {
    const nonce = randomBytes(length).toString("hex").slice(0, length);
    const found = await solvePow(nonce, 10);
    const hash = createHash("sha256").update(nonce + found).digest("hex");
    assert.ok(zeros(hash) >= 10, `SHA-256(${nonce}${found}) = ${hash}`);
    for (let n = 0; n < Number(found); n++) {
      assert.ok(zeros(createHash("sha256").update(nonce + n).digest("hex")) < 10, `${n} comes before ${found}`);
    }
  }
});

test("the proof of work stops when its signal aborts", async () => {
  const begun = Date.now();
  await assert.rejects(solvePow("nonce", 60, AbortSignal.timeout(300)), { name: "TimeoutError" });
  assert.ok(Date.now() - begun < 10_000, `it took ${Date.now() - begun} ms`);
  await assert.rejects(solvePow("nonce", 60, AbortSignal.abort()), { name: "AbortError" });
});
