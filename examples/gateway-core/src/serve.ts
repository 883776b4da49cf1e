import { serve } from "@hono/node-server";
import { systemClock, type Clock } from "slipway";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ProcessDriver } from "./driver/process-driver.js";
import { planFor, type Budgets } from "./gateway/budgets.js";
import { Gateway } from "./gateway/gateway.js";
import type { Log } from "./gateway/log.js";
import { buildApp } from "./http/app.js";
import { SqliteActivationLedger } from "./store/sqlite-activation-ledger.js";
import { SqliteStore } from "./store/sqlite-store.js";

export interface ServeOptions {
  readonly dataDir: string;
  /** Absent: the port of the last time, so that supervisors find the gateway again, or any free one. */
  readonly port?: number | undefined;
  readonly budgets: Budgets;
  readonly ownerToken?: string | undefined;
  readonly leaseMs?: number | undefined;
  readonly log: Log;
  readonly clock?: Clock | undefined;
}

export interface RunningGateway {
  readonly url: string;
  readonly gateway: Gateway;
  close(): Promise<void>;
}

/** Only this machine: what the API lets in runs programs here. */
const HOST = "127.0.0.1";

/** A whole gateway in this process: store, driver, core and HTTP API. */
export async function serveGateway(options: ServeOptions): Promise<RunningGateway> {
  // Budgets that contradict one another are a mistake of whoever starts the gateway, not of whoever uses it.
  planFor(options.budgets, {});
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const store = new SqliteStore(join(dataDir, "gateway.db"));
  const ledger = new SqliteActivationLedger(join(dataDir, "gateway.db"));
  const clock = options.clock ?? systemClock;
  // Supervisors are told an address before there is a gateway behind it: their requests wait until there is.
  const { promise: ready, resolve: open } = withResolvers<ReturnType<typeof buildApp>>();
  const fetch = async (request: Request): Promise<Response> => (await ready).fetch(request);
  const { server, port } = await listen(fetch, dataDir, options.port);
  const url = `http://${HOST}:${port}`;
  const supervisorProgram = fileURLToPath(new URL("./supervisor.js", import.meta.url));
  const gateway = new Gateway({
    store,
    ledger,
    clock,
    drivers: [new ProcessDriver({ clock, dataDir, supervisorProgram })],
    budgets: options.budgets,
    // No two gateways listen on one port of a machine, and a restart comes back to its own.
    owner: `${hostname()}:${port}`,
    log: options.log,
    gatewayUrl: () => url,
    newId: randomUUID,
    leaseMs: options.leaseMs,
  });
  await gateway.start();
  open(buildApp({ gateway, log: options.log, ownerToken: options.ownerToken }));
  return {
    url,
    gateway,
    async close() {
      await gateway.close();
      server.close();
      server.closeAllConnections();
      await ledger.close();
      await store.close();
    },
  };
}

type Fetch = (request: Request) => Promise<Response>;

async function listen(
  fetch: Fetch,
  dataDir: string,
  asked: number | undefined,
): Promise<{ readonly server: Server; readonly port: number }> {
  const note = join(dataDir, "gateway.json");
  const port = asked ?? (await notedPort(note));
  const server = await tryListen(fetch, port).catch((error: unknown) => {
    if (asked !== undefined || port === 0) throw error;
    return tryListen(fetch, 0);
  });
  const actual = (server.address() as AddressInfo).port;
  // Another gateway on this store has the noted port, and its supervisors: the note stays its own.
  const besideAnother = asked === undefined && port !== 0 && actual !== port;
  if (!besideAnother) {
    // Written beside and moved into place: half a note would send the next gateway to another port.
    await writeFile(`${note}.new`, `${JSON.stringify({ port: actual, pid: process.pid })}\n`);
    await rename(`${note}.new`, note);
  }
  return { server, port: actual };
}

async function tryListen(fetch: Fetch, port: number): Promise<Server> {
  const server = serve({ fetch, hostname: HOST, port }) as Server;
  await once(server, "listening");
  return server;
}

async function notedPort(note: string): Promise<number> {
  try {
    const { port } = JSON.parse(await readFile(note, "utf8")) as { port?: unknown };
    return typeof port === "number" && Number.isInteger(port) ? port : 0;
  } catch {
    return 0;
  }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
