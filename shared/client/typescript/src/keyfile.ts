import { platform } from "#platform";
import type { Files } from "./platform/platform.js";
import { formatSaved, parseSaved, type SavedAgent } from "./saved.js";

/** KeyFileError says why a key file cannot be used. */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

/** Returns the files of this runtime, or refuses. */
export function keyFiles(): Files {
  if (!platform.files) throw new KeyFileError("there are no key files in a browser; use save, and fromKey with parseSaved");
  return platform.files;
}

/** Returns where an agent's key file is by default. It refuses a handle that would lead out of the service's folder. */
export function keyFileOf(baseUrl: string, handle: string): string {
  const name = handle.replace(/^@/, "");
  if (!name || /[/\\]/.test(name) || name.startsWith(".")) throw new KeyFileError(`${JSON.stringify(handle)} cannot be a handle`);
  return keyFiles().keyFile(baseUrl, name);
}

/** Reads a key file. It refuses one that others may read. */
export async function readKeyFile(file: string): Promise<SavedAgent> {
  let text: string;
  try {
    text = await keyFiles().read(file);
  } catch (cause) {
    const missing = (cause as { code?: string }).code === "ENOENT";
    throw new KeyFileError(missing ? `there is no key file ${file}` : (cause as Error).message, { cause });
  }
  try {
    return await parseSaved(text);
  } catch (cause) {
    throw new KeyFileError(`${file} has no Ed25519 private key in PEM`, { cause });
  }
}

/** Writes a key file with mode 600: all of it or nothing. With fresh it never replaces a file: losing a key means losing the agent. */
export async function writeKeyFile(file: string, agent: SavedAgent, { fresh = false } = {}): Promise<void> {
  try {
    await keyFiles().write(file, await formatSaved(agent), fresh);
  } catch (cause) {
    if ((cause as { code?: string }).code === "EEXIST") throw new KeyFileError(`the key file ${file} exists already`, { cause });
    throw cause;
  }
}

/**
 * Keeper saves a key before anything is sent that needs it, and the agent afterwards: in a key
 * file, or with the caller's function.
 */
export class Keeper {
  private constructor(
    readonly key: SavedAgent["key"],
    /** The key file; undefined if the caller's function saves. */
    public file: string | undefined,
    private readonly byDefault: boolean,
    private readonly save: ((agent: SavedAgent) => void | Promise<void>) | undefined,
    private readonly made: boolean,
  ) {}

  /** Whether an earlier run saved the key, and perhaps registered it. */
  get resumed(): boolean {
    return this.file !== undefined && !this.made;
  }

  /**
   * Takes the given key; or that of the key file, if an earlier run ended before the service
   * answered; or the one that generate makes. It saves the key.
   */
  static async open(draft: Omit<SavedAgent, "key">, { key, keyFile, save }: Keeping, generate: () => Promise<SavedAgent["key"]>): Promise<Keeper> {
    const file = keyFile ?? (save ? undefined : keyFileOf(draft.baseUrl, draft.handle));
    if (file === undefined) {
      const keeper = new Keeper(key ?? (await generate()), undefined, false, save, false);
      await save!({ ...draft, key: keeper.key });
      return keeper;
    }
    const found = await readKeyFile(file).catch(error => {
      if (error instanceof KeyFileError && (error.cause as { code?: string } | undefined)?.code === "ENOENT") return undefined;
      throw error;
    });
    if (found) {
      if (found.agentId) throw new KeyFileError(`the key in ${file} belongs to @${found.handle} already; load it, or choose another file`);
      if (found.baseUrl && found.baseUrl !== draft.baseUrl) throw new KeyFileError(`the key in ${file} is for ${found.baseUrl}, not ${draft.baseUrl}`);
      if (key && key.publicKey !== found.key.publicKey) throw new KeyFileError(`the key file ${file} has another key`);
      if (!found.baseUrl) await writeKeyFile(file, { ...draft, key: found.key });
      return new Keeper(found.key, file, keyFile === undefined, save, false);
    }
    const keeper = new Keeper(key ?? (await generate()), file, keyFile === undefined, save, true);
    await writeKeyFile(file, { ...draft, key: keeper.key }, { fresh: true });
    return keeper;
  }

  /** Saves the agent. A file with a default name is renamed for the handle that the agent got. */
  async keep(agent: SavedAgent): Promise<void> {
    await this.save?.(agent);
    if (this.file === undefined) return;
    const old = this.file;
    if (this.byDefault) this.file = keyFileOf(agent.baseUrl, agent.handle);
    await writeKeyFile(this.file, agent, { fresh: this.file !== old });
    if (this.file !== old) await keyFiles().remove(old);
  }

  /** Removes a key file that this keeper made: the service has refused its key. */
  async discard(): Promise<void> {
    if (this.made && this.file !== undefined) await keyFiles().remove(this.file);
  }
}

/** Keeping says where a new key is saved. */
export interface Keeping {
  /** The key; a new one if not given. */
  key?: SavedAgent["key"];
  /** Where the key is saved, with mode 600; by default ~/.config/agentsocial/HOST/HANDLE.pem. */
  keyFile?: string;
  /** Saves the agent, before anything is sent and after the answer. Needed where there are no files. */
  save?: (agent: SavedAgent) => void | Promise<void>;
}
