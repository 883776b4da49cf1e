import { systemClock } from "slipway";
import { Option, type Command } from "commander";
import type { Drivers } from "../driver/made-drivers.js";
import { DEFAULT_BUDGETS, type Budgets } from "../gateway/budgets.js";
import { jsonLog, messageOf, type Log } from "../gateway/log.js";
import { DEFAULT_CONNECTIONS } from "../http/connections.js";
import type { TlsFiles } from "../http/listen.js";
import { DEFAULT_STREAMS } from "../http/open-answers.js";
import { DEFAULT_RATES } from "../http/rate-limits.js";
import { readTlsFiles } from "../http/tls-files.js";
import { InvalidInputError } from "../input-error.js";
import type { ServeOptions as GatewayOptions } from "../serve-options.js";
import { serveGateway, type RunningGateway } from "../serve.js";
import { EndSignals } from "./end-signals.js";
import { startPatiently, type StartAttempt } from "./start-patiently.js";
import {
  milliseconds,
  millisecondsOrNone,
  portNumber,
  positiveNumber,
  printJson,
  requireOption,
  type GlobalOptions,
} from "./context.js";

/** So long a start that failed may take to let go of everything, before its process ends all the same. */
const SOON_MS = 2000;

interface ServeOptions extends GlobalOptions {
  readonly data: string;
  readonly databaseUrl?: string;
  readonly host?: string;
  readonly port?: number;
  readonly supervisorUrl?: string;
  readonly preparationMs: number;
  readonly waitMs?: number;
  readonly admissionMs: number;
  readonly admissionCeilingMs: number;
  readonly stallMs: number | "none";
  readonly cleanupMs: number;
  readonly leaseMs: number;
  readonly isolationBackend?: string;
  readonly restartOn?: readonly string[];
  readonly manageLifecycle?: boolean;
  readonly sweepMs?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly metricsToken?: string;
  readonly clientRate: number;
  readonly addressRate: number;
  readonly clientStreams: number;
  readonly allStreams: number;
  readonly addressConnections: number;
  readonly allConnections: number;
  readonly startMs: number;
  readonly drainMs: number;
  readonly shutdownMs: number;
}

/** What a gateway's program decides about its `serve`. */
export interface ServeDefaults {
  readonly drivers: Drivers;
  readonly host?: string | undefined;
  readonly supervisorUrl?: string | undefined;
  readonly storage?: GatewayOptions["storage"];
  readonly isStorageAway?: GatewayOptions["isStorageAway"];
  readonly tls?: (() => TlsFiles | undefined) | undefined;
}

export function addServeCommand(program: Command, served: ServeDefaults): void {
  const defaults = DEFAULT_BUDGETS;
  program
    .command("serve")
    .description("run a gateway on this machine")
    .option("--data <dir>", "where records and sandboxes live (required)")
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
    .option(
      "--wait-ms <ms>",
      "limit of all waits for another sandbox's image (default: as --preparation-ms)",
      milliseconds,
    )
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
    .option("--tls-cert <file>", "serve HTTPS: the certificate chain, PEM")
    .option("--tls-key <file>", "the private key of the certificate, PEM")
    .addOption(
      new Option("--metrics-token <token>", "opens /metrics, and nothing else").env("SLIPWAY_METRICS_TOKEN"),
    )
    .option(
      "--client-rate <n>",
      "requests a second of one client; twice as many at once",
      positiveNumber,
      DEFAULT_RATES.client.perSecond,
    )
    .option(
      "--address-rate <n>",
      "requests a second from one address; twice as many at once",
      positiveNumber,
      DEFAULT_RATES.address.perSecond,
    )
    .option(
      "--client-streams <n>",
      "streams of events that one client may have open",
      positiveNumber,
      DEFAULT_STREAMS.perClient,
    )
    .option(
      "--all-streams <n>",
      "streams of events that may be open in all",
      positiveNumber,
      DEFAULT_STREAMS.all,
    )
    .option(
      "--address-connections <n>",
      "connections that one address may have open",
      positiveNumber,
      DEFAULT_CONNECTIONS.perAddress,
    )
    .option(
      "--all-connections <n>",
      "connections that may be open in all",
      positiveNumber,
      DEFAULT_CONNECTIONS.all,
    )
    .option(
      "--start-ms <ms>",
      "how long a database that is away is waited for at the start",
      milliseconds,
      120_000,
    )
    .option("--drain-ms <ms>", "how long the end waits for requests that are under way", milliseconds, 10_000)
    .option("--shutdown-ms <ms>", "how long the end may take in all", milliseconds, 60_000)
    .action(async (_options: unknown, command: Command) => {
      requireOption(command, "data");
      const options = command.optsWithGlobals<ServeOptions>();
      const { preparationMs, waitMs, admissionMs, admissionCeilingMs, cleanupMs } = options;
      const stallMs = options.stallMs === "none" ? undefined : options.stallMs;
      const admission = { admissionMs, admissionCeilingMs };
      const budgets: Budgets = { preparationMs, waitMs, ...admission, cleanupMs, stallMs };
      const log = jsonLog(
        (line) => process.stderr.write(line),
        () => systemClock.now(),
      );
      const { data: dataDir, databaseUrl, host, port, supervisorUrl, token: ownerToken, leaseMs } = options;
      const { drivers, storage, isStorageAway, tls } = served;
      const given = tlsFilesOf(options);
      const start = ({ onAnswer }: StartAttempt): Promise<RunningGateway> =>
        serveGateway({
          drivers,
          storage,
          isStorageAway,
          onAnswer,
          tls: given ?? tls?.(),
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
          metricsToken: options.metricsToken,
          rates: { client: rateOf(options.clientRate), address: rateOf(options.addressRate) },
          streams: { perClient: options.clientStreams, all: options.allStreams },
          connections: { perAddress: options.addressConnections, all: options.allConnections },
          processMetrics: true,
          drainMs: options.drainMs,
          log,
        });
      const signals = new EndSignals();
      const running = await startPatiently(start, { limitMs: options.startMs, log }).catch((error: unknown) =>
        endSoon(inWordsOfOptions(error)),
      );
      if (options.json === true) printJson({ url: running.url });
      else console.log(`The gateway listens on ${running.url}`);
      signals.endInOrder(() => {
        if (options.json !== true)
          console.log(
            options.manageLifecycle === true
              ? "The gateway ends, and stops its sandboxes; it starts them when it is back."
              : "The gateway ends and stops no sandbox itself. What its backend lets go on, it finds when it is back.",
          );
        void endWithin(options.shutdownMs, running, log);
      });
    });
}

/** What a start that failed has waited for may hold on, as a connection does that died without a word. */
function endSoon(error: unknown): never {
  setTimeout(() => process.exit(), SOON_MS).unref();
  throw error;
}

/** The end itself has limits all along; should something hold on all the same, the process does not. */
async function endWithin(limitMs: number, running: RunningGateway, log: Log): Promise<void> {
  // No host timer of its own: those end at once where they should take longer than 25 days.
  const impatience = systemClock.schedule(systemClock.now() + limitMs, () => {
    log("shutdown-cut-short", { afterMs: limitMs });
    process.exit(1);
  });
  try {
    await running.close();
  } catch (error) {
    log("shutdown-failed", { error: messageOf(error) });
    process.exitCode = 1;
  }
  impatience[Symbol.dispose]();
}

function rateOf(perSecond: number): { perSecond: number; burst: number } {
  return { perSecond, burst: 2 * perSecond };
}

/** @throws InvalidInputError for one file without the other, or one that is not what it has to be */
function tlsFilesOf({ tlsCert, tlsKey }: ServeOptions): TlsFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsKey === undefined) throw new InvalidInputError("--tls-key", "given with --tls-cert", tlsKey);
  if (tlsCert === undefined) throw new InvalidInputError("--tls-cert", "given with --tls-key", tlsCert);
  return readTlsFiles({
    cert: { name: "--tls-cert", file: tlsCert },
    key: { name: "--tls-key", file: tlsKey },
  });
}

/** The options of a gateway by the names that they have here. */
const OPTION_OF: ReadonlyMap<string, string> = new Map([
  ["dataDir", "--data"],
  ["databaseUrl", "--database-url (SLIPWAY_DATABASE_URL)"],
  ["supervisorUrl", "--supervisor-url"],
  ["isolationBackend", "--isolation-backend"],
  ["restartOn", "--restart-on"],
  ["ownerToken", "--token (SLIPWAY_GATEWAY_TOKEN)"],
  ["metricsToken", "--metrics-token (SLIPWAY_METRICS_TOKEN)"],
]);

function inWordsOfOptions(error: unknown): unknown {
  if (!(error instanceof InvalidInputError)) return error;
  const option = OPTION_OF.get(error.field);
  return option === undefined ? error : new InvalidInputError(option, error.expected, error.value);
}
