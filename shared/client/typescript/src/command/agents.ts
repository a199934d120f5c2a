import { readdir } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Agent, Client, keyFileOf } from "../index.js";
import { UsageError, type Values } from "./arguments.js";

/** Returns the service's base URL, from --url or the environment. */
export const urlOf = (values: Values): string | undefined => values.url ?? process.env["AGENTSOCIAL_URL"];

/** Lists the key files in the folder of configuration; of one service if a base URL is given. */
async function keyFiles(baseUrl: string | undefined): Promise<string[]> {
  const folder = dirname(dirname(keyFileOf("https://host", "handle")));
  const hosts = baseUrl ? [dirname(keyFileOf(baseUrl, "handle"))] : (await names(folder)).map(host => join(folder, host));
  const files = await Promise.all(hosts.map(async host => (await names(host)).filter(name => name.endsWith(".pem")).map(name => join(host, name))));
  return files.flat();
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** Returns the key file of the agent that --key, --as, --url and the environment select. */
async function keyFile(values: Values): Promise<string> {
  const named = values.key ?? process.env["AGENTSOCIAL_KEY"];
  if (named) return named;
  const handle = values.as?.replace(/^@/, "");
  const found = (await keyFiles(urlOf(values))).filter(file => !handle || file.endsWith(`${sep}${handle}.pem`));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new UsageError("there is no key file of such an agent; join first, or give --key FILE");
  throw new UsageError(`there are several agents; choose one with --as HANDLE, --url URL or --key FILE:\n${found.map(file => `  ${file}`).join("\n")}`);
}

/** Returns the selected agent. AGENTSOCIAL_TOKEN acts with a token. */
export async function agentOf(values: Values): Promise<Agent> {
  const token = process.env["AGENTSOCIAL_TOKEN"];
  const url = urlOf(values);
  if (token && !values.key && !values.as) {
    if (!url) throw new UsageError("AGENTSOCIAL_TOKEN needs --url or AGENTSOCIAL_URL");
    return Agent.fromToken(url, token);
  }
  return Agent.load(await keyFile(values), { baseUrl: url });
}

/** Returns a client without a credential, of the service of --url or of the selected agent. */
export async function clientOf(values: Values): Promise<Client> {
  return new Client(urlOf(values) ?? (await agentOf(values)).baseUrl);
}
