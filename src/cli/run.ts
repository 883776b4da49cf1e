import { isSlipwayError } from "../errors.js";
import { EXIT_BAD_INPUT, EXIT_OK, UsageError, type Command, type CommandIo } from "./command.js";
import { explainCommand } from "./explain.js";

/** The commands of `slipway`, in the order of the help. */
const commands: readonly Command[] = [explainCommand];

/**
 * Runs the command that the arguments name; the exit code.
 *
 * @internal
 */
export function run(args: readonly string[], io: CommandIo): number {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    help(io);
    return name === undefined ? EXIT_BAD_INPUT : EXIT_OK;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    io.complain(
      `slipway: expected one of ${commands.map((known) => known.name).join(", ")}, found ${JSON.stringify(name)}`,
    );
    return EXIT_BAD_INPUT;
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    io.print(command.usage);
    return EXIT_OK;
  }
  try {
    return command.run(rest, io);
  } catch (error) {
    if (!(error instanceof UsageError) && !isSlipwayError(error)) throw error;
    io.complain(`slipway ${command.name}: ${error.message}`);
    return EXIT_BAD_INPUT;
  }
}

function help(io: CommandIo): void {
  io.print("usage: slipway <command> [options]");
  io.print("");
  for (const { name, summary } of commands) io.print(`  ${name.padEnd(10)} ${summary}`);
  io.print("");
  io.print("slipway <command> --help says more.");
}
