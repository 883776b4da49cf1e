import { parseArguments } from "../arguments.js";
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

type ReasonsOption = Exclude<keyof ReasonsOptions, "words">;

/** What the value of each option is, in words, or `null` for one that takes none. */
const values: Readonly<Record<ReasonsOption, string | null>> = {
  catalog: "a file",
  lock: "a file",
  json: null,
  type: "a condition type",
  class: "a class",
  contract: "a contract",
  backend: "a backend",
  frozen: null,
  strict: null,
  force: null,
};

/** What each command takes beside `--catalog` and `--json`; anything else is a mistake of the caller. */
const taken: Readonly<Record<string, readonly ReasonsOption[]>> = {
  list: ["type", "class", "contract"],
  describe: ["backend"],
  lock: ["lock", "force"],
  check: ["lock", "frozen", "strict"],
};

/** Reads the options of a command; an option or a word that it does not take is a mistake of the caller. */
export function readOptions(command: string, args: readonly string[]): ReasonsOptions {
  const own: readonly ReasonsOption[] = ["catalog", "json", ...(taken[command] ?? [])];
  const names = Object.fromEntries(own.map((name) => [name, values[name]]));
  const { positional: words, options } = parseArguments(args, names);
  const [word] = words;
  if (word !== undefined && command !== "describe")
    throw new UsageError(
      `expected no word after ${command}, found ${JSON.stringify(word)}: name a catalog with --catalog FILE`,
    );
  const isGiven = (name: ReasonsOption): boolean => options[name] !== undefined;
  return {
    catalog: options["catalog"],
    lock: options["lock"] ?? DEFAULT_LOCK,
    json: isGiven("json"),
    type: options["type"],
    class: options["class"],
    contract: options["contract"],
    backend: options["backend"],
    frozen: isGiven("frozen"),
    strict: isGiven("strict"),
    force: isGiven("force"),
    words,
  };
}

/** Refuses a value of an option that is none of the known ones. */
export function expectOneOf(option: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  const expected = known.length === 0 ? "nothing, as the catalog names none," : `one of ${known.join(", ")}`;
  throw new UsageError(`expected ${expected} after ${option}, found ${JSON.stringify(value)}`);
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
