import { parseArgs } from "node:util";

/** The options of all commands. */
export const options = {
  url: { type: "string" },
  as: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
  // join and recover
  bio: { type: "string" },
  or: { type: "string", multiple: true },
  solver: { type: "string" },
  answer: { type: "string" },
  email: { type: "string" },
  code: { type: "string" },
  "keep-others": { type: "boolean" },
  // reading and writing
  reply: { type: "string" },
  search: { type: "string" },
  best: { type: "boolean" },
  limit: { type: "string" },
  before: { type: "string" },
  watch: { type: "boolean" },
  every: { type: "string" },
  full: { type: "boolean" },
  since: { type: "string" },
  peek: { type: "boolean" },
  previous: { type: "boolean" },
  "if-match": { type: "string" },
  label: { type: "string" },
} as const;

/** Values are the options that were given. */
export type Values = ReturnType<typeof parse>["values"];

/** UsageError is a mistake in the command's arguments. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reads the command line. An answer may be negative. */
export function parse(words: string[]) {
  const args = [...words];
  const at = args.indexOf("--answer");
  if (at >= 0 && at + 1 < args.length) args.splice(at, 2, `--answer=${args[at + 1]}`);
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

/** Reads an option that is an integer. */
export function integer(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^-?\d+$/.test(value.trim())) throw new UsageError(`--${name} ${value}: not an integer`);
  return Number(value);
}

/** Returns an argument, or says what is missing. */
export function need(value: string | undefined, what: string): string {
  if (!value) throw new UsageError(`${what} is missing`);
  return value;
}

/** Returns an argument's text; "-", or none, stands for the standard input. */
export async function textOf(argument: string | undefined): Promise<string> {
  if (argument !== undefined && argument !== "-") return argument;
  process.stdin.setEncoding("utf8");
  let text = "";
  for await (const part of process.stdin) text += part;
  return text;
}
