import { systemClock } from "slipway";
import type { Command } from "commander";
import { DEFAULT_BUDGETS, type Budgets } from "../gateway/budgets.js";
import { jsonLog } from "../gateway/log.js";
import { serveGateway } from "../serve.js";
import { milliseconds, millisecondsOrNone, portNumber, printJson, type GlobalOptions } from "./context.js";

interface ServeOptions extends GlobalOptions {
  readonly data: string;
  readonly port?: number;
  readonly preparationMs: number;
  readonly admissionMs: number;
  readonly admissionCeilingMs: number;
  readonly stallMs: number | "none";
  readonly cleanupMs: number;
  readonly leaseMs: number;
}

export function addServeCommand(program: Command): void {
  const defaults = DEFAULT_BUDGETS;
  program
    .command("serve")
    .description("run a gateway on this machine")
    .requiredOption("--data <dir>", "where records and sandboxes live")
    .option("--port <port>", "port on the loopback interface (default: that of the last time)", portNumber)
    .option("--preparation-ms <ms>", "budget of image preparation", milliseconds, defaults.preparationMs)
    .option("--admission-ms <ms>", "window for admission and repair", milliseconds, defaults.admissionMs)
    .option(
      "--admission-ceiling-ms <ms>",
      "limit of all repairs together",
      milliseconds,
      defaults.admissionCeilingMs,
    )
    .option(
      "--stall-ms <ms>",
      "longest silence of a preparation, or none",
      millisecondsOrNone,
      defaults.stallMs,
    )
    .option("--cleanup-ms <ms>", "budget of one cleanup", milliseconds, defaults.cleanupMs)
    .option("--lease-ms <ms>", "how long the work of a gateway that died stays its own", milliseconds, 15_000)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>();
      const { preparationMs, admissionMs, admissionCeilingMs, cleanupMs } = options;
      const stallMs = options.stallMs === "none" ? undefined : options.stallMs;
      const budgets: Budgets = { preparationMs, admissionMs, admissionCeilingMs, cleanupMs, stallMs };
      const log = jsonLog(
        (line) => process.stderr.write(line),
        () => systemClock.now(),
      );
      const { data: dataDir, port, token: ownerToken, leaseMs } = options;
      const running = await serveGateway({ dataDir, port, ownerToken, leaseMs, budgets, log });
      if (options.json === true) printJson({ url: running.url });
      else console.log(`The gateway listens on ${running.url}`);
      const signals = ["SIGTERM", "SIGINT"] as const;
      const end = (): void => {
        for (const signal of signals) process.off(signal, end);
        if (options.json !== true)
          console.log("The gateway ends. Its sandboxes go on; it finds them when it is back.");
        void running.close();
      };
      for (const signal of signals) process.on(signal, end);
    });
}
