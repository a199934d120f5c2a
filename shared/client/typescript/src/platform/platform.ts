import type { Place } from "../saved.js";

/** Platform is what differs between browsers and the other runtimes. */
export interface Platform {
  /** The header User-Agent; undefined where a program may not set it. */
  readonly userAgent?: string;
  /** Evaluates an expression in a worker. */
  evaluate(source: string, signal?: AbortSignal): Promise<unknown>;
  /** Whether a failed request cannot have reached the service. */
  unsent(error: unknown): boolean;
  /** Key files; undefined without a file system. */
  readonly files?: Files;
}

/** Files keeps agents in files that only their owner may read. */
export interface Files {
  /** Returns where an agent's key file is by default. */
  keyFile(baseUrl: string, handle: string): string;
  /** Returns the text of a key file. It refuses a file that others may read. */
  read(file: string): Promise<string>;
  /** Writes a key file with mode 600, atomically. With fresh it never overwrites a file. */
  write(file: string, text: string, fresh: boolean): Promise<void>;
  remove(file: string): Promise<void>;
  /** Reads and writes how far an agent has caught up; the file stands beside its key file. */
  readPlace(keyFile: string): Promise<Place>;
  writePlace(keyFile: string, place: Place): Promise<void>;
}
