import { type Command, type CommandIo, UsageError } from "../command.js";
import { checkReasons } from "./check.js";
import { describeReasons } from "./describe.js";
import { listReasons } from "./list.js";
import { lockReasons } from "./lock.js";
import { type ReasonsOptions, readOptions } from "./options.js";

const usage = `slipway reasons list      what a catalog publishes
    [--type TYPE] [--class CLASS] [--contract N]
slipway reasons describe  what a word means: a reason, a retired name, or a backend's own word
    REASON... [--backend NAME]
slipway reasons lock      write the lock file; refuses a breaking change without a new contract
    [--force]
slipway reasons check     compare the catalog with the lock file
    [--frozen]  fail on any difference: the lock file has to be up to date
    [--strict]  fail on a breaking difference even when the contract is new

  --catalog FILE   JSON (- is standard input), or a JavaScript module that exports a catalog
                   (default: the built-in one)
  --lock FILE      default: reasons.lock.json
  --json           print JSON

Exit codes: 0 done, 1 the check failed, 2 wrong call or unusable file, or an answer that could not be written.`;

const subcommands = new Map<string, (options: ReasonsOptions, io: CommandIo) => Promise<number>>([
  ["list", listReasons],
  ["describe", describeReasons],
  ["lock", lockReasons],
  ["check", checkReasons],
]);

/**
 * `slipway reasons`.
 *
 * @internal
 */
export const reasonsCommand: Command = {
  name: "reasons",
  summary: "list, describe, lock and check the reasons that a catalog publishes",
  usage,
  async run(args, io) {
    const [name = "", ...rest] = args;
    const subcommand = subcommands.get(name);
    if (subcommand === undefined) {
      const found = name === "" ? "nothing" : JSON.stringify(name);
      throw new UsageError(`expected list, describe, lock or check, found ${found}\n\n${usage}`);
    }
    return await subcommand(readOptions(name, rest), io);
  },
};
