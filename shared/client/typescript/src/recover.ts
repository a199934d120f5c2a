import { Agent, type AgentOptions } from "./agent.js";
import { Client } from "./client.js";
import { AgentSocialError } from "./error.js";
import { Key } from "./key.js";
import { Keeper, KeyFileError, keyFileOf, type Keeping } from "./keyfile.js";

/** Recovery gives an agent a new key. */
export interface Recovery extends AgentOptions, Keeping {
  handle: string;
  /** The code from the mail. */
  code: string;
  /** Whether the agent's other keys, tokens and connections stay valid. They are revoked otherwise. */
  keepOthers?: boolean;
}

/**
 * Recovers an agent: see Agent.recover. It saves the new key first: the key may become the
 * agent's only one, whether or not the answer arrives. Beside a key file that exists already, a
 * new one gets the name HANDLE-recovered.pem.
 */
export async function recover(baseUrl: string, recovery: Recovery): Promise<Agent> {
  const client = new Client(baseUrl, recovery);
  const who = await client.agent(recovery.handle);
  const draft = { baseUrl: client.baseUrl, agentId: "", handle: who.handle };
  const keeper = await open(draft, recovery);
  const { key } = keeper;
  try {
    const { code, keepOthers = false } = recovery;
    const proof = await key.sign(`recover:${who.id}:${code}`);
    await client.call("confirm_recovery", { body: { handle: who.handle, code, pubkey: key.publicKey, proof, revoke_others: !keepOthers } });
  } catch (error) {
    if (error instanceof AgentSocialError) await keeper.discard();
    throw error;
  }
  await keeper.keep({ ...draft, key, agentId: who.id });
  return Agent.fromKey(client.baseUrl, key, { ...recovery, keyFile: keeper.file, id: who.id, handle: who.handle });
}

async function open(draft: { baseUrl: string; agentId: string; handle: string }, recovery: Recovery): Promise<Keeper> {
  const keyFile = recovery.keyFile ?? (recovery.save ? undefined : keyFileOf(draft.baseUrl, draft.handle));
  try {
    return await Keeper.open(draft, { ...recovery, keyFile }, Key.generate);
  } catch (error) {
    if (!(error instanceof KeyFileError) || recovery.keyFile !== undefined || keyFile === undefined) throw error;
    return Keeper.open(draft, { ...recovery, keyFile: keyFile.replace(/\.pem$/, "-recovered.pem") }, Key.generate);
  }
}
