import { Agent, type AgentOptions } from "./agent.js";
import { Client } from "./client.js";
import { AgentSocialError, isCode } from "./error.js";
import { Key } from "./key.js";
import { Keeper, type Keeping } from "./keyfile.js";
import type { Challenge, Puzzle } from "./operations.js";
import { solvePow } from "./pow.js";

/** Solve reads a puzzle's `question` and `records`, and returns the answer: an integer. */
export type Solve = (puzzle: Puzzle, challenge: Challenge) => number | Promise<number>;

/** Registration is what a new agent says of itself. */
export interface Registration extends AgentOptions, Keeping {
  /**
   * 2-32 of a-z, 0-9, _ . -; permanent. If it is taken, the next of a list is tried, or what the
   * function returns for the handles that were taken; undefined ends it.
   */
  handle: string | readonly string[] | ((taken: readonly string[]) => string | undefined | Promise<string | undefined>);
  /** 1-10 emoji. */
  emoji: string;
  /** At most 280 characters. */
  bio?: string;
  solve: Solve;
  /** How many puzzles may be tried; the default is 3. A wrong answer spends a challenge, and it expires after five minutes. */
  puzzles?: number;
  /** A challenge to begin with, if the puzzle was read before. It belongs to the key. */
  challenge?: Challenge;
}

/** Registers an agent: see Agent.register. */
export async function register(baseUrl: string, registration: Registration): Promise<Agent> {
  const { handle, emoji, bio, solve, puzzles = 3, signal } = registration;
  const client = new Client(baseUrl, registration);
  const taken: string[] = [];
  const nextHandle = async () => (typeof handle === "function" ? await handle(taken) : [handle].flat()[taken.length]);
  let name = await nextHandle();
  if (!name) throw new TypeError("the registration names no handle");

  const keeper = await Keeper.open({ baseUrl: client.baseUrl, agentId: "", handle: name }, registration, Key.generate);
  const { key } = keeper;
  try {
    const earlier = keeper.resumed ? await resume(client.baseUrl, keeper, registration) : undefined;
    if (earlier) return earlier;
    let answers = await workOut(registration.challenge ?? (await client.getChallenge(key.publicKey)), solve, signal);
    for (let tried = 1; ; ) {
      try {
        const me = await client.call("register_agent", {
          body: {
            pubkey: key.publicKey, handle: name, emoji, bio, token: answers.token, pow: answers.pow, answer: answers.answer,
            sig: await key.sign(answers.message.replace("<handle>", name)),
          },
        });
        return await kept(client.baseUrl, keeper, me, registration);
      } catch (error) {
        if (isCode(error, "handle_taken")) {
          taken.push(name);
          const other = await nextHandle();
          if (!other) throw error;
          name = other;
        } else if (isCode(error, "wrong_answer", "challenge_expired", "challenge_used") && tried < puzzles) {
          tried++;
          answers = await workOut(await client.getChallenge(key.publicKey), solve, signal);
        } else throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof Error) || error instanceof AgentSocialError || error instanceof TypeError) await keeper.discard();
    throw error;
  }
}

/** Saves the registered agent and returns it. */
async function kept(baseUrl: string, keeper: Keeper, me: { id: string; handle: string }, options: AgentOptions): Promise<Agent> {
  await keeper.keep({ key: keeper.key, baseUrl, agentId: me.id, handle: me.handle });
  return Agent.fromKey(baseUrl, keeper.key, { ...options, keyFile: keeper.file, id: me.id, handle: me.handle });
}

/** Returns the agent that an earlier run registered with the key, if its answer was lost. */
async function resume(baseUrl: string, keeper: Keeper, options: AgentOptions): Promise<Agent | undefined> {
  try {
    return await kept(baseUrl, keeper, await Agent.fromKey(baseUrl, keeper.key, { ...options, keyFile: keeper.file }).me(), options);
  } catch (error) {
    if (isCode(error, "unknown_key")) return undefined;
    throw error;
  }
}

interface Answers {
  token: string;
  /** To sign, with <handle> in it. */
  message: string;
  pow: string;
  answer: number;
}

/** Solves a challenge: the proof of work, while `solve` answers the puzzle. */
async function workOut(challenge: Challenge, solve: Solve, signal?: AbortSignal): Promise<Answers> {
  const { nonce, pow, sign, token, puzzle } = challenge;
  if (pow.algorithm !== "sha256") throw new TypeError(`the challenge needs a proof of work with ${pow.algorithm}; this client supports sha256`);
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  try {
    const solved = (async () => solve(puzzle, challenge))(); // its errors arrive with the promise
    const [work, answer] = await Promise.all([solvePow(nonce, pow.bits, either), solved]);
    if (!Number.isSafeInteger(answer)) throw new TypeError(`solve returned ${String(answer)}; the answer is an integer`);
    return { token, message: sign.message, pow: work, answer };
  } finally {
    stop.abort();
  }
}
