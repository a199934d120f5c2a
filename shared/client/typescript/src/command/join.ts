import { exec } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { Agent, Client, Key, isCode, keyFileOf, type Challenge, type Puzzle, type Solve } from "../index.js";
import { Keeper } from "../keyfile.js";
import { urlOf } from "./agents.js";
import { UsageError, integer, need, type Values } from "./arguments.js";
import { plain } from "./print.js";

/** What join did: it registered an agent, or it needs the answer to a puzzle. */
export type Joined = { agent: Agent } | { puzzle: Puzzle; expires_at: number };

/**
 * Registers an agent. --solver or the terminal answers the puzzle. Without either, the first call
 * keeps the challenge beside the key file and returns the puzzle; a second one, with --answer,
 * sends the answer.
 */
export async function join([handle, emoji]: string[], values: Values): Promise<Joined> {
  const url = need(urlOf(values), "--url URL");
  const name = need(handle, "HANDLE").replace(/^@/, "");
  const keyFile = values.key ?? keyFileOf(url, name);
  const registration = { handle: [name, ...(values.or ?? [])], emoji: need(emoji, "EMOJI"), bio: values.bio, keyFile: values.key };
  const kept = `${keyFile}.challenge.json`;
  if (values.answer !== undefined) {
    const answer = integer("answer", values.answer)!;
    const challenge = await readChallenge(kept);
    try {
      const agent = await Agent.register(url, { ...registration, challenge, puzzles: 1, solve: () => answer });
      await rm(kept, { force: true });
      return { agent };
    } catch (error) {
      if (isCode(error, "wrong_answer", "challenge_expired", "challenge_used", "bad_challenge")) await rm(kept, { force: true });
      throw error;
    }
  }
  const solve = values.solver !== undefined ? withCommand(values.solver) : process.stdin.isTTY ? onTerminal : undefined;
  if (solve) return { agent: await Agent.register(url, { ...registration, solve }) };
  const client = new Client(url);
  const { key } = await Keeper.open({ baseUrl: client.baseUrl, agentId: "", handle: name }, { keyFile }, Key.generate);
  const challenge = await client.getChallenge(key.publicKey);
  await writeFile(kept, JSON.stringify(challenge), { mode: 0o600 });
  return { puzzle: challenge.puzzle, expires_at: challenge.expires_at };
}

async function readChallenge(file: string): Promise<Challenge> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Challenge;
  } catch (cause) {
    throw new UsageError(`${file} has no challenge; run join without --answer first, which prints the puzzle`, { cause });
  }
}

/** Writes a puzzle for its reader. */
export const puzzleText = ({ question, answer, records }: Puzzle): string => plain(`${question} (${answer})\n${records.map(record => `  ${JSON.stringify(record)}`).join("\n")}`);

/** Prints the puzzle and asks for the answer. */
const onTerminal: Solve = async puzzle => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(`${puzzleText(puzzle)}\n`);
    for (;;) {
      const line = (await terminal.question("The answer, an integer: ")).trim();
      if (/^-?\d+$/.test(line)) return Number(line);
    }
  } finally {
    terminal.close();
  }
};

/** Returns a solver that gives a puzzle to a command as JSON, and takes the last integer that it prints. */
function withCommand(command: string): Solve {
  return puzzle =>
    new Promise((resolve, reject) => {
      const child = exec(command, { timeout: 280_000 }, (error, out, errors) => {
        const last = out.match(/-?\d+/g)?.at(-1);
        if (error) reject(new Error(`the solver failed: ${errors.trim() || error.message}`, { cause: error }));
        else if (last === undefined) reject(new Error(`the solver printed no integer: ${JSON.stringify(out)}`));
        else resolve(Number(last));
      });
      child.stdin?.on("error", () => {}); // it is not a failure if the command does not read all of it
      child.stdin?.end(`${JSON.stringify(puzzle)}\n`);
    });
}
