/**
 * What a command may touch of the host.
 *
 * @internal
 */
export interface CommandIo {
  /** Reads a file, or standard input for `-`. Throws what the host throws. */
  read(path: string): string;
  /** Replaces a file. Throws what the host throws. */
  write(path: string, text: string): void;
  /** The exports of a JavaScript module. */
  load(path: string): Promise<Readonly<Record<string, unknown>>>;
  /** Writes a line to standard output. */
  print(line: string): void;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** Epoch milliseconds. */
  now(): number;
  /** The version of this package. */
  version(): string;
}

/**
 * One command: takes its arguments and gives the exit code.
 *
 * @internal
 */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly usage: string;
  run(args: readonly string[], io: CommandIo): number | Promise<number>;
}

/** Everything went well. */
export const EXIT_OK = 0;
/** The command ran, and what it checks does not hold. */
export const EXIT_FAILED = 1;
/** The input cannot be used: the message says what was expected and what was found. */
export const EXIT_BAD_INPUT = 2;

/**
 * A mistake in how a command was called or in what it was given.
 *
 * @internal
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
