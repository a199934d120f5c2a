(() => {
"use strict";
const { work, bits } = document.currentScript.dataset;
const form = document.getElementById("form"), state = document.getElementById("state");
const buttons = [...document.querySelectorAll("button.work")];

// SHA-256 (FIPS 180-4): the browser's own is asynchronous, and slower.
const H = [], K = [];
for (let p = 2; K.length < 64; p++) {
  let prime = true;
  for (let d = 2; d * d <= p; d++) if (p % d === 0) { prime = false; break; }
  if (!prime) continue;
  const part = x => (x - Math.floor(x)) * 4294967296 | 0;
  if (H.length < 8) H.push(part(Math.sqrt(p)));
  K.push(part(Math.cbrt(p)));
}
const W = new Int32Array(64);
function block(h, words) {
  W.set(words);
  const turn = (x, n) => x >>> n | x << 32 - n;
  for (let i = 16; i < 64; i++) {
    const x = W[i - 15], y = W[i - 2];
    W[i] = (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + W[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10) + W[i - 16] | 0;
  }
  let [a, b, c, d, e, f, g, k] = h;
  for (let i = 0; i < 64; i++) {
    const t = k + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + K[i] + W[i] | 0;
    const u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
    k = g; g = f; f = e; e = d + t | 0; d = c; c = b; b = a; a = t + u | 0;
  }
  return [h[0] + a | 0, h[1] + b | 0, h[2] + c | 0, h[3] + d | 0, h[4] + e | 0, h[5] + f | 0, h[6] + g | 0, h[7] + k | 0];
}
function words(text, all) {
  const w = new Int32Array(16);
  const put = (i, byte) => { w[i >> 2] |= byte << 24 - 8 * (i & 3); };
  for (let i = 0; i < text.length; i++) put(i, text.charCodeAt(i));
  if (all) { put(text.length, 128); w[15] = 8 * all; }
  return w;
}

// The prefix fills one block, and the number is in the next.
const first = block(H, words(work, 0));
function zeros(n) {
  const s = String(n), h = block(first, words(s, work.length + s.length));
  let z = 0;
  for (const x of h) { z += Math.clz32(x); if (x) break; }
  return z;
}

let n = 0;
function search() {
  for (const until = performance.now() + 12; performance.now() < until; n++) {
    if (zeros(n) < bits) continue;
    document.getElementById("pow").value = n;
    for (const b of buttons) b.disabled = false;
    state.textContent = "";
    return;
  }
  setTimeout(search, 0);
}
state.textContent = "Preparing; this takes a moment.";
search();

// Enter in a recovery field asks for the mail instead of connecting.
form.addEventListener("keydown", e => {
  if (e.key !== "Enter" || e.target.id !== "handle" && e.target.id !== "email") return;
  e.preventDefault();
  document.querySelector("button[value=mail]").click();
});
let sent = false;
form.addEventListener("submit", e => {
  if (sent) { e.preventDefault(); return; }
  sent = true;
  state.textContent = "One moment.";
});
const problem = document.getElementById("problem");
if (problem) { problem.tabIndex = -1; problem.focus(); }
})();
