import { isSlipwayError } from "../errors.js";
import { type Command, type CommandIo, EXIT_BAD_INPUT, EXIT_OK, UsageError } from "./command.js";
import { deadlineCommand } from "./deadline/command.js";
import { explainCommand } from "./explain.js";
import { reasonsCommand } from "./reasons/command.js";

/** The commands of `slipway`, in the order of the help. */
const commands: readonly Command[] = [explainCommand, deadlineCommand, reasonsCommand];

/**
 * Runs the command that the arguments name; the exit code.
 *
 * @internal
 */
export async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    help(io);
    return name === undefined ? EXIT_BAD_INPUT : EXIT_OK;
  }
  if (name === "--version" || name === "-v") {
    io.print(io.version());
    return EXIT_OK;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    const known = commands.map((candidate) => candidate.name).join(", ");
    io.complain(`slipway: expected one of ${known}, found ${JSON.stringify(name)}`);
    return EXIT_BAD_INPUT;
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    io.print(command.usage);
    return EXIT_OK;
  }
  try {
    return await command.run(rest, io);
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
  io.print("slipway <command> --help says more; slipway --version prints the version.");
}
