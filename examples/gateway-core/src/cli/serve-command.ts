import { systemClock } from "slipway";
import { Option, type Command } from "commander";
import { DEFAULT_BUDGETS, type Budgets } from "../gateway/budgets.js";
import { jsonLog } from "../gateway/log.js";
import { serveGateway, type Drivers, type ServeOptions as GatewayOptions, type TlsFiles } from "../serve.js";
import { milliseconds, millisecondsOrNone, portNumber, printJson, type GlobalOptions } from "./context.js";

interface ServeOptions extends GlobalOptions {
  readonly data: string;
  readonly databaseUrl?: string;
  readonly host?: string;
  readonly port?: number;
  readonly supervisorUrl?: string;
  readonly preparationMs: number;
  readonly admissionMs: number;
  readonly admissionCeilingMs: number;
  readonly stallMs: number | "none";
  readonly cleanupMs: number;
  readonly leaseMs: number;
  readonly isolationBackend?: string;
  readonly restartOn?: readonly string[];
  readonly manageLifecycle?: boolean;
  readonly sweepMs?: number;
}

/** What a gateway's program decides about its `serve`. */
export interface ServeDefaults {
  readonly drivers: Drivers;
  readonly host?: string | undefined;
  readonly supervisorUrl?: string | undefined;
  readonly storage?: GatewayOptions["storage"];
  readonly tls?: (() => TlsFiles | undefined) | undefined;
}

export function addServeCommand(program: Command, served: ServeDefaults): void {
  const defaults = DEFAULT_BUDGETS;
  program
    .command("serve")
    .description("run a gateway on this machine")
    .requiredOption("--data <dir>", "where records and sandboxes live")
    .addOption(
      new Option("--database-url <url>", "postgres://...: a database to share with other gateways").env(
        "SLIPWAY_DATABASE_URL",
      ),
    )
    .option("--host <address>", "where to listen", served.host ?? "127.0.0.1")
    .option("--port <port>", "port to listen on (default: that of the last time)", portNumber)
    .option(
      "--supervisor-url <url>",
      "what supervisors are told to call, {port} for the port (default: the gateway's own)",
      served.supervisorUrl,
    )
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
    .option("--isolation-backend <name>", "what new sandboxes are pinned to, and pinned ones need")
    .option("--restart-on <reason...>", "errors after which a sandbox is started again by itself")
    .option("--manage-lifecycle", "stop sandboxes when the gateway ends, start them when it is back")
    .option("--sweep-ms <ms>", "time between two sweeps over a backend", milliseconds)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>();
      const { preparationMs, admissionMs, admissionCeilingMs, cleanupMs } = options;
      const stallMs = options.stallMs === "none" ? undefined : options.stallMs;
      const budgets: Budgets = { preparationMs, admissionMs, admissionCeilingMs, cleanupMs, stallMs };
      const log = jsonLog(
        (line) => process.stderr.write(line),
        () => systemClock.now(),
      );
      const { data: dataDir, databaseUrl, host, port, supervisorUrl, token: ownerToken, leaseMs } = options;
      const { drivers, storage, tls } = served;
      const running = await serveGateway({
        drivers,
        storage,
        tls: tls?.(),
        dataDir,
        databaseUrl,
        host,
        port,
        supervisorUrl,
        ownerToken,
        leaseMs,
        budgets,
        isolationBackend: options.isolationBackend,
        restartOn: options.restartOn,
        managesLifecycle: options.manageLifecycle,
        sweepEveryMs: options.sweepMs,
        log,
      });
      if (options.json === true) printJson({ url: running.url });
      else console.log(`The gateway listens on ${running.url}`);
      const signals = ["SIGTERM", "SIGINT"] as const;
      const end = (): void => {
        for (const signal of signals) process.off(signal, end);
        if (options.json !== true)
          console.log(
            options.manageLifecycle === true
              ? "The gateway ends, and stops its sandboxes; it starts them when it is back."
              : "The gateway ends. Its sandboxes go on; it finds them when it is back.",
          );
        void running.close();
      };
      for (const signal of signals) process.on(signal, end);
    });
}
