import { parseArgs } from "node:util";
import { UsageError } from "../command.js";

const DEFAULT_LOCK = "reasons.lock.json";

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

/** What each command takes beside `--catalog` and `--json`; anything else is a mistake of the caller. */
const taken: Readonly<Record<string, readonly string[]>> = {
  list: ["type", "class", "contract"],
  describe: ["backend"],
  lock: ["lock", "force"],
  check: ["lock", "frozen", "strict"],
};

/** Reads the options of a command; an option or a word that it does not take is a mistake of the caller. */
export function readOptions(command: string, args: readonly string[]): ReasonsOptions {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      allowPositionals: true,
      tokens: true,
      options: {
        catalog: text,
        lock: { ...text, default: DEFAULT_LOCK },
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
    const own = ["catalog", "json", ...(taken[command] ?? [])];
    const given = new Set<string>();
    for (const token of tokens) {
      if (token.kind !== "option") continue;
      if (!own.includes(token.name)) throw new UsageError(`${command} takes no ${token.rawName}`);
      // The last of two would be taken, and the first pass unseen.
      if (token.value !== undefined && given.has(token.name))
        throw new UsageError(`${command} takes one ${token.rawName}, got another: ${token.value}`);
      given.add(token.name);
    }
    const [word] = positionals;
    if (word !== undefined && command !== "describe") {
      throw new UsageError(`${command} takes no ${JSON.stringify(word)}: name a catalog with --catalog FILE`);
    }
    const { catalog, type, class: reasonClass, contract, backend, ...others } = values;
    return { catalog, type, class: reasonClass, contract, backend, ...others, words: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Refuses a value of an option that is none of the known ones. */
export function expectOneOf(option: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  const expected = known.length === 0 ? "nothing here: the catalog names none" : `one of ${known.join(", ")}`;
  throw new UsageError(`${option} takes ${expected}, got ${JSON.stringify(value)}`);
}

/** A command with the files that this call names, for a user to copy. */
export function commandLine(command: string, { catalog, lock }: ReasonsOptions): string {
  const files = { catalog, lock: lock === DEFAULT_LOCK ? undefined : lock };
  const named = Object.entries(files).flatMap(([option, file]) =>
    file === undefined
      ? []
      : [` --${option} ${/^[\w./@:-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`}`],
  );
  return `slipway reasons ${command}${named.join("")}`;
}
