// Each step that is taken is one line: its name, and what is wrong with it.
import assert from "node:assert/strict";

export async function step(name, take) {
  try {
    await take();
    console.log(`${name}\tok`);
  } catch (e) {
    console.log(`${name}\t${String(e?.message ?? e).replace(/\s+/g, " ").slice(0, 300) || "failed"}`);
  }
}

// consent has a person open the page and connect; it is where the browser came back to.
export async function consent(page) {
  const answer = await fetch(process.env.PERSON, { method: "POST", body: String(page) });
  const said = await answer.text();
  assert.equal(answer.status, 200, said);
  assert.ok(said.startsWith(process.env.CALLBACK), said);
  return new URL(said);
}

// anHourLater moves the service's clock: access tokens end.
export async function anHourLater() {
  const { status } = await fetch(`${process.env.SERVICE}/_local/clock`, { method: "POST", body: '{"advance_ms":3600000}' });
  assert.equal(status, 200);
}
