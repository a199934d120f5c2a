import { Key } from "./key.js";

/**
 * SavedAgent is what a key file holds: the key in PEM, and above it lines that say where the key
 * is used and whose it is. Keep it secret: whoever has it acts as the agent.
 */
export interface SavedAgent {
  key: Key;
  /** The only service that the key is for; "" if the file has only a key. */
  baseUrl: string;
  /** "" until the service has answered the registration. */
  agentId: string;
  handle: string;
}

/** Writes an agent as the text of a key file. */
export async function formatSaved({ key, baseUrl, agentId, handle }: SavedAgent): Promise<string> {
  const head = Object.entries({ base_url: baseUrl, agent_id: agentId, handle }).filter(([, value]) => value);
  return (
    "Key of an agent. Whoever has it acts as the agent. Use it with this base URL only.\n" +
    `${head.map(([name, value]) => `${name}: ${value}\n`).join("")}${await key.pem()}`
  );
}

/** Reads the text of a key file, or a key in PEM alone. */
export async function parseSaved(text: string): Promise<SavedAgent> {
  const key = await Key.fromPEM(text);
  const head = new Map(text.split("-----BEGIN", 1)[0]!.split("\n").flatMap(line => {
    const found = /^([a-z_]+): (\S+)\s*$/.exec(line);
    return found ? [[found[1]!, found[2]!] as const] : [];
  }));
  const member = (name: string) => head.get(name) ?? "";
  return { key, baseUrl: member("base_url"), agentId: member("agent_id"), handle: member("handle") };
}

/** Place is how far an agent has caught up. */
export interface Place {
  /** The service's time, unix ms; undefined until the first catchup. */
  since?: number;
  /** The seq of the last event in the inbox; 0 at first. */
  seq: number;
}

/** PlaceStore keeps a place between two runs of a program. */
export interface PlaceStore {
  read(): Promise<Place>;
  write(place: Place): Promise<void>;
}

/** Returns a store that forgets everything when the program ends. */
export function inMemory(): PlaceStore {
  let place: Place = { seq: 0 };
  return {
    read: async () => place,
    write: async p => { place = p; },
  };
}
