import { type CommandIo, UsageError } from "./command.js";

/** The options of a command: what the value of each is, in words, or `null` for one that takes none. */
export type OptionNames = Readonly<Record<string, string | null>>;

/** What the command line said. */
export interface Arguments<Names extends OptionNames> {
  readonly positional: readonly string[];
  /** The values given, by option; an option without a value is `""`. */
  readonly options: Readonly<Partial<Record<keyof Names, string>>>;
}

/**
 * Reads `--option VALUE`, `--option=VALUE` and what stands alone.
 *
 * @throws UsageError for an option that there is not, and for a value that is missing or too much.
 *
 * @internal
 */
export function parseArguments<Names extends OptionNames>(
  args: readonly string[],
  names: Names,
): Arguments<Names> {
  const positional: string[] = [];
  const options: Partial<Record<keyof Names, string>> = {};
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    // A dash alone is standard input.
    if (!arg.startsWith("-") || arg === "-") {
      positional.push(arg);
      continue;
    }
    const [name, attached] = split(arg.slice(2));
    if (!arg.startsWith("--") || !Object.hasOwn(names, name))
      throw new UsageError(`expected ${listOf(names)}, found ${arg}`);
    const what = names[name] ?? null;
    if (what === null && attached !== undefined)
      throw new UsageError(`expected no value after --${name}, found ${JSON.stringify(attached)}`);
    if (what !== null && options[name as keyof Names] !== undefined)
      throw new UsageError(`expected one --${name}, found another`);
    options[name as keyof Names] = what === null ? "" : (attached ?? valueAt(args, (index += 1), name, what));
  }
  return { positional, options };
}

function split(option: string): readonly [string, string | undefined] {
  const at = option.indexOf("=");
  return at === -1 ? [option, undefined] : [option.slice(0, at), option.slice(at + 1)];
}

function valueAt(args: readonly string[], index: number, name: string, what: string): string {
  const value = args[index];
  if (value === undefined || value.startsWith("--"))
    throw new UsageError(`expected ${what} after --${name}, found ${value ?? "nothing"}`);
  return value;
}

function listOf(names: OptionNames): string {
  const all = Object.keys(names).map((name) => `--${name}`);
  return all.length === 1 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} or ${all.at(-1) ?? ""}`;
}

/**
 * The one file that a command takes; standard input, `-`, when none was named.
 *
 * @internal
 */
export function onlyFile([file = "-", extra]: readonly string[]): string {
  if (extra === undefined) return file;
  throw new UsageError(`expected one file, found ${JSON.stringify(extra)} as well`);
}

/** @internal */
export function readInput(io: CommandIo, path: string): string {
  try {
    return io.read(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`expected a readable file, found ${JSON.stringify(path)}: ${why}`);
  }
}
