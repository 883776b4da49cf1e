import { parseArgs } from "node:util";
import { UsageError } from "../command.js";

/** The options of all `slipway reasons` commands, as they were given. */
export interface ReasonsOptions {
  /** File of the catalog; absent means the built-in one. */
  readonly catalog: string | undefined;
  /** File of the lock. */
  readonly lock: string;
  readonly json: boolean;
  readonly type: string | undefined;
  readonly class: string | undefined;
  readonly contract: string | undefined;
  readonly backend: string | undefined;
  readonly frozen: boolean;
  readonly strict: boolean;
  readonly force: boolean;
  /** What is left: the words that are no options. */
  readonly words: readonly string[];
}

/** Reads the options; a word that is none is a mistake of the caller. */
export function readOptions(args: readonly string[]): ReasonsOptions {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        catalog: text,
        lock: { ...text, default: "reasons.lock.json" },
        type: text,
        class: text,
        contract: text,
        backend: text,
        json: flag,
        frozen: flag,
        strict: flag,
        force: flag,
      },
    });
    const { catalog, type, class: reasonClass, contract, backend, ...others } = values;
    return { catalog, type, class: reasonClass, contract, backend, ...others, words: positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
