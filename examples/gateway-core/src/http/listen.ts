import { serve } from "@hono/node-server";
import { once } from "node:events";
import { access, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** Certificate chain and private key, PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface ListenOptions {
  readonly fetch: (request: Request, env: unknown) => Promise<Response>;
  readonly dataDir: string;
  readonly host: string;
  /** Absent: the port of the last time, or any free one. */
  readonly port?: number | undefined;
  readonly tls?: TlsFiles | undefined;
  /** Called with a server before anybody can connect to it. */
  readonly onServer?: ((server: Server) => void) | undefined;
}

/** A request is a line, headers and a small body: who takes longer to send it is slow on purpose, or gone. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 30_000;
const CHECK_EVERY_MS = 5000;
/** Longest silence under an answer: a question may be held for a minute, and a stream shows that it is alive sooner. */
const SILENT_MS = 120_000;

/** Whether a gateway was served with this directory before. */
export async function wasServed(dataDir: string): Promise<boolean> {
  return access(noteIn(dataDir)).then(
    () => true,
    () => false,
  );
}

function noteIn(dataDir: string): string {
  return join(dataDir, "gateway.json");
}

/** Listens, and notes the port down for the next time. */
export async function listen(
  options: ListenOptions,
): Promise<{ readonly server: Server; readonly port: number }> {
  const { dataDir, port: asked } = options;
  const note = noteIn(dataDir);
  const port = asked ?? (await notedPort(note));
  const server = await tryListen(options, port).catch((error: unknown) => {
    if (asked !== undefined || port === 0) throw error;
    return tryListen(options, 0);
  });
  const actual = (server.address() as AddressInfo).port;
  // Another gateway on this store has the noted port, and its supervisors: the note stays its own.
  const besideAnother = asked === undefined && port !== 0 && actual !== port;
  if (!besideAnother) {
    await noteDown(note, actual).catch((error: unknown) => {
      server.close();
      throw error;
    });
  }
  return { server, port: actual };
}

/**
 * Written beside and moved into place: half a note would send the next gateway to another port. Beside is a place of
 * its own for each process, since gateways that share a folder may start at once.
 */
async function noteDown(note: string, port: number): Promise<void> {
  const beside = `${note}.${process.pid}.${port}`;
  try {
    await writeFile(beside, `${JSON.stringify({ port, pid: process.pid })}\n`);
    await rename(beside, note);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function tryListen({ fetch, host, tls, onServer }: ListenOptions, port: number): Promise<Server> {
  const limits = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const secure =
    tls === undefined
      ? { serverOptions: limits }
      : { createServer: createTlsServer, serverOptions: { ...limits, handshakeTimeout: HEADERS_MS, ...tls } };
  const server = serve({ fetch, hostname: host, port, ...secure }) as Server;
  // Who reads nothing of an answer holds it in memory, and its connection.
  server.setTimeout(SILENT_MS);
  onServer?.(server);
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
