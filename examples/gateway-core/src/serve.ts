import { systemClock } from "slipway";
import { classify } from "slipway/retry";
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkServeOptions } from "./check-serve-options.js";
import { driversOf, MadeDrivers } from "./driver/made-drivers.js";
import { Gateway } from "./gateway/gateway.js";
import { discreetLog, logByStore } from "./gateway/log.js";
import { buildApp } from "./http/app.js";
import { Connections, DEFAULT_CONNECTIONS } from "./http/connections.js";
import { FrontDoor } from "./http/front-door.js";
import { listen, wasServed } from "./http/listen.js";
import { DEFAULT_RATES } from "./http/rate-limits.js";
import { InvalidInputError } from "./input-error.js";
import { knownSecrets } from "./known-secrets.js";
import { GatewayMetrics } from "./metrics/gateway-metrics.js";
import type { ServeOptions } from "./serve-options.js";
import { bindToData } from "./store/data-home.js";
import { openStorage, openStore, type OpenStore } from "./store/open-store.js";
import { isDatabaseAway } from "./store/postgres/away.js";
import { orAway } from "./store/store-away.js";

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
  checkServeOptions(options);
  const { host = LOOPBACK } = options;
  const log = discreetLog(options.log, knownSecrets(options));
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

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
