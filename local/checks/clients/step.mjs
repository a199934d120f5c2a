// Prints a line for each step: its name, and its problem if it failed.
import assert from "node:assert/strict";

export async function step(name, take) {
  try {
    await take();
    console.log(`${name}\tok`);
  } catch (e) {
    console.log(`${name}\t${String(e?.message ?? e).replace(/\s+/g, " ").slice(0, 300) || "failed"}`);
  }
}

// consent lets the person open the page and connect, and returns where the browser was sent.
export async function consent(page) {
  const answer = await fetch(process.env.PERSON, { method: "POST", body: String(page) });
  const said = await answer.text();
  assert.equal(answer.status, 200, said);
  assert.ok(said.startsWith(process.env.CALLBACK), said);
  return new URL(said);
}

// anHourLater moves the service's clock, so that access tokens expire.
export async function anHourLater() {
  const { status } = await fetch(`${process.env.SERVICE}/_local/clock`, { method: "POST", body: '{"advance_ms":3600000}' });
  assert.equal(status, 200);
}
