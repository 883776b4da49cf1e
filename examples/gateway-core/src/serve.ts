import { systemClock, type Clock } from "slipway";
import { classify } from "slipway/retry";
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkToken } from "./check-token.js";
import type { Driver } from "./driver/driver.js";
import { planFor, type Budgets } from "./gateway/budgets.js";
import { Gateway } from "./gateway/gateway.js";
import { discreetLog, logByStore, type Log } from "./gateway/log.js";
import { HIDDEN } from "./gateway/secrets.js";
import { buildApp } from "./http/app.js";
import { Connections, DEFAULT_CONNECTIONS, type ConnectionLimits } from "./http/connections.js";
import { FrontDoor } from "./http/front-door.js";
import { listen, wasServed, type TlsFiles } from "./http/listen.js";
import type { OpenLimits } from "./http/open-answers.js";
import { DEFAULT_RATES, type RateLimits } from "./http/rate-limits.js";
import { InvalidInputError } from "./input-error.js";
import { GatewayMetrics } from "./metrics/gateway-metrics.js";
import { bindToData } from "./store/data-home.js";
import { openStorage, openStore, type OpenStore, type Storage } from "./store/open-store.js";
import { isDatabaseAway } from "./store/postgres/away.js";
import { isPostgresUrl } from "./store/postgres/pool.js";
import { orAway } from "./store/store-away.js";

/** What a driver may need of the gateway that it is for. */
export interface DriverContext {
  readonly clock: Clock;
  /** An absolute path; what a driver keeps goes below it. */
  readonly dataDir: string;
  readonly log: Log;
  /** The program that runs inside a sandbox, a JavaScript file on this machine. */
  readonly supervisorProgram: string;
}

/** The drivers of a gateway, or what makes them: then they are closed with it. The first one is the default of a create request. */
export type Drivers =
  | readonly Driver[]
  | ((context: DriverContext) => readonly Driver[] | Promise<readonly Driver[]>);

export type { TlsFiles } from "./http/listen.js";

export interface ServeOptions {
  readonly drivers: Drivers;
  /** Where records and activations are kept. Default: a database in `dataDir`. */
  readonly storage?: ((context: DriverContext) => Storage | Promise<Storage>) | undefined;
  /**
   * Whether `storage` that failed so, as it was made, opened or first read, may come by itself: the start then fails
   * with a {@link StoreAwayError}. Default: what the library's own rules call transient.
   */
  readonly isStorageAway?: ((error: unknown) => boolean) | undefined;
  /** Called when the store answers, perhaps twice. What it throws ends the start, before anything is begun. */
  readonly onAnswer?: (() => void) | undefined;
  /** Serve HTTPS with these. Default: HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly dataDir: string;
  /** `postgres://...`: records are in a database that other gateways may share. Default: a file below `dataDir`. */
  readonly databaseUrl?: string | undefined;
  /** Where to listen. Default: this machine only. */
  readonly host?: string | undefined;
  /** Absent: the port of the last time, so that supervisors find the gateway again, or any free one. */
  readonly port?: number | undefined;
  /**
   * What supervisors are told to call, where that is not the address on this machine; `{port}` stands for the port.
   * Default: the gateway's own URL.
   */
  readonly supervisorUrl?: string | undefined;
  readonly budgets: Budgets;
  /** What users must present. Absent: whoever is on this machine may use the API, and nobody else. */
  readonly ownerToken?: string | undefined;
  /** Opens `/metrics` and nothing else. The owner's token opens it as well. */
  readonly metricsToken?: string | undefined;
  /** How often clients may ask. Default: {@link DEFAULT_RATES}. */
  readonly rates?: RateLimits | undefined;
  /** How many streams of events may be open. Default: {@link DEFAULT_STREAMS}. */
  readonly streams?: OpenLimits | undefined;
  /** How many connections may be open. Default: {@link DEFAULT_CONNECTIONS}. */
  readonly connections?: ConnectionLimits | undefined;
  /** What Node tells of this process is among the metrics. Default: it is not; for one gateway in a process. */
  readonly processMetrics?: boolean | undefined;
  /** How long requests that are under way are waited for when the gateway ends. Default 10 000. */
  readonly drainMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** The isolation backend that new sandboxes are pinned to, and that pinned ones need. Absent: none. */
  readonly isolationBackend?: string | undefined;
  /** Reasons of an error after which a sandbox is started again by itself, ever more rarely. Default: the drivers' own. */
  readonly restartOn?: readonly string[] | undefined;
  /** Stop what runs when the gateway ends and start it when it is back. Absent: as each driver says. */
  readonly managesLifecycle?: boolean | undefined;
  /** Time between two sweeps over a backend. */
  readonly sweepEveryMs?: number | undefined;
  readonly log: Log;
  readonly clock?: Clock | undefined;
}

export interface RunningGateway {
  /** The gateway's address for programs on this machine. */
  readonly url: string;
  readonly gateway: Gateway;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const EVERYWHERE = new Set(["0.0.0.0", "::"]);
const DRAIN_MS = 10_000;

/**
 * A whole gateway in this process: store, drivers, core and HTTP API. A start that fails leaves nothing.
 *
 * @throws StoreAwayError when the store is away, or restarts; InvalidInputError for options that cannot be used
 */
export async function serveGateway(options: ServeOptions): Promise<RunningGateway> {
  const made = new MadeDrivers(options.drivers);
  try {
    const running = await serveStored({ ...options, drivers: (context) => made.make(context) });
    return { ...running, close: () => running.close().finally(() => made.close()) };
  } catch (error) {
    await made.close().catch(() => undefined);
    throw error;
  }
}

async function serveStored(options: ServeOptions): Promise<RunningGateway> {
  // Budgets that contradict one another are a mistake of whoever starts the gateway, not of whoever uses it.
  planFor(options.budgets, {});
  const { host = LOOPBACK } = options;
  checkToken("ownerToken", options.ownerToken);
  checkToken("metricsToken", options.metricsToken);
  const log = discreetLog(options.log, knownSecrets(options));
  checkDatabaseUrl(options);
  checkSupervisorUrl(options.supervisorUrl);
  checkNames(options);
  const dataDir = resolve(options.dataDir);
  await makeDataDir(dataDir);
  const { databaseUrl } = options;
  const hostClock = options.clock ?? systemClock;
  const { storage, onAnswer } = options;
  const isAway = awayRule(options);
  const opened = await orAway(isAway, async () =>
    storage === undefined
      ? openStore({ dataDir, databaseUrl, clock: hostClock, log, onAnswer })
      : openStorage(await storage({ clock: hostClock, dataDir, log, supervisorProgram }), hostClock, log),
  );
  try {
    onAnswer?.();
    return await serveOn(opened, isAway, { ...options, log, host, dataDir });
  } catch (error) {
    try {
      await opened[Symbol.asyncDispose]();
    } catch {
      // What went wrong first is what is told.
    }
    throw error;
  }
}

/** What of a store's failures may come by itself: whoever keeps the records knows. */
function awayRule({ storage, isStorageAway, databaseUrl }: ServeOptions): (error: unknown) => boolean {
  if (storage === undefined && databaseUrl !== undefined) return isDatabaseAway;
  return isStorageAway ?? ((error) => classify(error).verdict === "transient");
}

async function serveOn(
  opened: OpenStore,
  isAway: (error: unknown) => boolean,
  options: ServeOptions & { readonly host: string },
): Promise<RunningGateway> {
  const { host, dataDir } = options;
  const { store, ledger, clock, sessionStore, tellsOfWrites } = opened;
  const log = sessionStore === undefined ? options.log : logByStore(options.log, () => clock.now());
  const drivers = await driversOf(options.drivers, { clock, dataDir, log, supervisorProgram });
  const { dataHomes } = opened;
  if (dataHomes !== undefined) {
    const data = { dataDir, wasServed: await wasServed(dataDir) };
    await orAway(isAway, () => bindToData(drivers, data, dataHomes, store));
  }
  // Supervisors are told an address before there is a gateway behind it: their requests wait until there is.
  const door = new FrontDoor();
  const { port: asked, tls, ownerToken, metricsToken, rates = DEFAULT_RATES } = options;
  const metrics = new GatewayMetrics({ process: options.processMetrics === true });
  const connections = new Connections(options.connections ?? DEFAULT_CONNECTIONS, (limit) =>
    metrics.connectionRefused(limit),
  );
  metrics.countConnections(() => connections.size);
  const { server, port } = await listen({
    ...{ fetch: connections.guard(door.fetch), dataDir, host, port: asked, tls },
    onServer: (made) => connections.watch(made),
  });
  door.watch(server);
  const url = `${options.tls === undefined ? "http" : "https"}://${urlHost(EVERYWHERE.has(host) ? LOOPBACK : host)}:${port}`;
  const supervisorUrl = options.supervisorUrl?.replaceAll("{port}", String(port)).replace(/\/+$/, "") ?? url;
  let made: Gateway | undefined;
  const end = async (drainMs = options.drainMs ?? DRAIN_MS, sweep = true): Promise<void> => {
    // Nobody is heard any more after this: a sandbox that is stopped with the gateway did not fail.
    await door.close(server, drainMs);
    opened.ending();
    await made?.close({ sweep });
  };
  try {
    const gateway = new Gateway({
      store,
      sessionStore,
      tellsOfWrites,
      ledger,
      clock,
      drivers,
      budgets: options.budgets,
      // No two gateways listen on one port of a machine, and a restart comes back to its own.
      owner: `${hostname()}:${port}`,
      log,
      gatewayUrl: () => supervisorUrl,
      newId: randomUUID,
      leaseMs: options.leaseMs,
      isolationBackend: options.isolationBackend,
      policy: { restartOn: options.restartOn ?? [], managesLifecycle: options.managesLifecycle },
      sweepEveryMs: options.sweepEveryMs,
      observer: metrics,
    });
    made = gateway;
    const { closing } = door;
    const { streams } = options;
    const app = buildApp({ gateway, log, ownerToken, metrics, metricsToken, rates, streams, closing });
    await orAway(isAway, () => gateway.start());
    opened.follow(gateway);
    door.open(app);
    return {
      url,
      gateway,
      async close() {
        try {
          await end();
        } finally {
          await opened[Symbol.asyncDispose]();
        }
      },
    };
  } catch (error) {
    // Half a gateway would take requests that it never answers, and keep its address from one that does.
    await end(0, false).catch(() => undefined);
    throw error;
  }
}

const supervisorProgram = fileURLToPath(new URL("./supervisor.js", import.meta.url));

/** The drivers of one gateway, for as long as it lives. Those that were there before it are whose they were. */
class MadeDrivers {
  readonly #drivers: Drivers;
  #made: readonly Driver[] = [];

  constructor(drivers: Drivers) {
    this.#drivers = drivers;
  }

  async make(context: DriverContext): Promise<readonly Driver[]> {
    if (typeof this.#drivers !== "function") return this.#drivers;
    this.#made = await this.#drivers(context);
    return this.#made;
  }

  /** Closes each of them, also where another one fails. */
  async close(): Promise<void> {
    const closed = await Promise.allSettled(this.#made.map(async (driver) => driver.close?.()));
    for (const end of closed) if (end.status === "rejected") throw end.reason;
  }
}

/** @throws InvalidInputError when there is none, or two have one name */
async function driversOf(drivers: Drivers, context: DriverContext): Promise<readonly Driver[]> {
  const made = typeof drivers === "function" ? await drivers(context) : drivers;
  const names = made.map(({ name }) => name);
  if (names.length === 0) throw new InvalidInputError("drivers", "one driver at least", names);
  if (new Set(names).size < names.length) throw new InvalidInputError("drivers", "of different names", names);
  return made;
}

/** What must not get into the log, should an error quote it. */
function knownSecrets({ ownerToken, metricsToken, tls, databaseUrl }: ServeOptions): readonly string[] {
  const password =
    databaseUrl !== undefined && URL.canParse(databaseUrl) ? new URL(databaseUrl).password : "";
  const secrets = [ownerToken, metricsToken, tls?.key, password, decoded(password)];
  return secrets.filter((secret): secret is string => secret !== undefined && secret !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @throws InvalidInputError for one of anything else, which PostgreSQL's client takes for the name of a host */
function checkDatabaseUrl({ storage, databaseUrl }: ServeOptions): void {
  if (storage !== undefined || databaseUrl === undefined) return;
  if (!/^postgres(?:ql)?:\/\//i.test(databaseUrl) || !isPostgresUrl(databaseUrl))
    throw new InvalidInputError("databaseUrl", "a URL that begins with postgres:// or postgresql://", HIDDEN);
}

/** @throws InvalidInputError where something else is in the way */
async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" && code !== "ENOTDIR") throw error;
    throw new InvalidInputError(
      "dataDir",
      "a directory, or where one can be made (a file is there)",
      dataDir,
    );
  }
}

function checkSupervisorUrl(url: string | undefined): void {
  if (url !== undefined && !URL.canParse(url.replaceAll("{port}", "1")))
    throw new InvalidInputError("supervisorUrl", "a URL, with {port} for the port where wanted", url);
}

function checkNames({ isolationBackend, restartOn = [] }: ServeOptions): void {
  if (isolationBackend !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(isolationBackend))
    throw new InvalidInputError(
      "isolationBackend",
      "1 to 63 letters, digits, '.', '_' or '-'",
      isolationBackend,
    );
  const reason = restartOn.find((each) => !/^[A-Z][A-Za-z0-9]*$/.test(each));
  if (reason !== undefined) throw new InvalidInputError("restartOn", "a reason in Pascal case", reason);
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
