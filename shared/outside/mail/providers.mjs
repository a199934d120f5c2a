// Writes providers_free.txt and providers_disposable.txt from lists that npm packages carry:
//
//	npm install --ignore-scripts --no-save --prefix /tmp/lists free-email-domains@1.12.6 email-providers@2.26.0 disposable-email-domains-js@1.26.0 disposable-email-domains@1.0.62
//	node providers.mjs /tmp/lists/node_modules
//
// To refresh them, take the newest versions. providers.txt and providers_relays.txt are kept by hand.
import { readFileSync, writeFileSync } from "node:fs";

const from = process.argv[2];
const here = (name) => new URL(name, import.meta.url);
const list = (path) => JSON.parse(readFileSync(`${from}/${path}`));
const version = (name) => `${name} ${list(`${name}/package.json`).version}`;
const byHand = (name) => new Set(readFileSync(here(name), "utf8").split("\n").filter((line) => line && !line.startsWith("#")));

const ours = byHand("providers.txt"), relays = byHand("providers_relays.txt");
const free = new Set(list("free-email-domains/domains.json")), providers = new Set(list("email-providers/all.json"));
const disposable = new Set(list("disposable-email-domains-js/dist/dict/disposable_email_blocklist.json"));
const candidates = new Set(list("disposable-email-domains/index.json")); // long and less strict

const plain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const sorted = (domains) => [...domains].filter((d) => plain.test(d)).sort().join("\n") + "\n";

// A provider is on both lists of free mail. Whoever owns a domain of the list has as
// many persons as addresses, so one list is not enough.
const both = [...free].filter((d) => providers.has(d) && !disposable.has(d) && !candidates.has(d) && !relays.has(d) && !ours.has(d));
// Disposable is what the strict list says, and what the long list and one of free mail say.
const thrown = [...disposable, ...[...candidates].filter((d) => free.has(d) || providers.has(d))].filter((d) => !relays.has(d) && !ours.has(d));

writeFileSync(here("providers_free.txt"), `# Providers of free mail, one a line, sorted, besides those of providers.txt. Made by providers.mjs: domains that are on both
# lists and on none of disposable mail. npm ${version("free-email-domains")} (MIT, Kiko Beats) and ${version("email-providers")} (ISC, Jannis R).
${sorted(new Set(both))}`);
writeFileSync(here("providers_disposable.txt"), `# Domains of disposable mail, one a line, sorted. Made by providers.mjs from npm ${version("disposable-email-domains-js")} (CC0 1.0,
# github.com/disposable-email-domains), and those of ${version("disposable-email-domains")} (MIT, Ilya Volodarsky) that also offer free mail.
${sorted(new Set(thrown))}`);
