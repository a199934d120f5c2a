#!/usr/bin/env node
import { AgentSocialError, UnknownOutcomeError, version } from "../index.js";
import { UsageError, parse } from "./arguments.js";
import { commands, usage } from "./commands.js";
import { plain } from "./print.js";

/** Runs the command, and returns its exit status: 0, 1 for a failure, 2 for wrong arguments. */
async function run(args: string[]): Promise<number> {
  const json = args.includes("--json");
  try {
    const { values, positionals } = parse(args);
    if (values.version) {
      console.log(version);
      return 0;
    }
    const [name, ...rest] = positionals;
    if (values.help || !name) {
      console.log(usage);
      return values.help ? 0 : 2;
    }
    const command = Object.hasOwn(commands, name) ? commands[name as keyof typeof commands] : undefined;
    if (!command) throw new UsageError(`there is no command ${name}; --help lists them`);
    for await (const { data, text } of command(rest, values)) {
      const out = json ? JSON.stringify(data) : text;
      if (out) process.stdout.write(out.endsWith("\n") ? out : `${out}\n`);
    }
    return 0;
  } catch (error) {
    process.stderr.write(json ? `${JSON.stringify({ error: described(error) })}\n` : `agentsocial: ${plain(sentence(error))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Writes an error for a person. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof AgentSocialError)) return error.message;
  const fields = error.fields.map(field => `\n  ${field.field}: ${field.problem}`);
  return `${error}${fields.join("")}`;
}

/** Writes an error for a program. */
function described(error: unknown): object {
  if (error instanceof UnknownOutcomeError) return { code: "unknown_outcome", message: error.message };
  if (!(error instanceof AgentSocialError)) return { code: error instanceof UsageError ? "usage" : "failed", message: (error as Error).message };
  const { status, code, message, hint, docs, fields, retryAt, until, existing, balance, price } = error;
  return { status, code, message, hint, docs, fields, retry_at: retryAt?.getTime(), until: until?.getTime(), existing, balance, price };
}

process.exitCode = await run(process.argv.slice(2));
