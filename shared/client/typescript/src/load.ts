import { Agent, type AgentOptions } from "./agent.js";
import { KeyFileError, keyFiles, readKeyFile } from "./keyfile.js";
import type { PlaceStore } from "./saved.js";

export interface LoadOptions extends AgentOptions {
  /** The service that the caller expects, or that a file with only a key is for. */
  baseUrl?: string;
}

/** Loads an agent from a key file. It refuses a file that is for another service. */
export async function load(keyFile: string, { baseUrl, ...options }: LoadOptions = {}): Promise<Agent> {
  const saved = await readKeyFile(keyFile);
  const wanted = baseUrl?.replace(/\/$/, "");
  if (wanted && saved.baseUrl && wanted !== saved.baseUrl) {
    throw new KeyFileError(`the key file ${keyFile} is for ${saved.baseUrl}, not ${wanted}; use one key for each service`);
  }
  const service = saved.baseUrl || wanted;
  if (!service) throw new KeyFileError(`the key file ${keyFile} names no service; give baseUrl`);
  return Agent.fromKey(service, saved.key, { ...options, keyFile, id: saved.agentId, handle: saved.handle });
}

/** Returns the store of a place in the file beside a key file. */
export function placeBeside(keyFile: string): PlaceStore {
  return {
    read: () => keyFiles().readPlace(keyFile),
    write: place => keyFiles().writePlace(keyFile, place),
  };
}
