/**
 * The first thing that runs in a container: takes the token out of its file, opens a way to the gateway where there is
 * no network, passes a stop on to everything inside, and becomes the supervisor.
 */
import { readFileSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";

/** How long the supervisor may take to report the end of a workload. */
const REPORT_GRACE_MS = 1000;
const POLL_MS = 50;

/** Variables that are ours and not the supervisor's, nor the workload's. */
function take(name: string): string | null {
  const value = process.env[name] ?? null;
  Reflect.deleteProperty(process.env, name);
  return value;
}

/** Connections to a port in here come out at the gateway's socket. */
async function relay(socket: string): Promise<string> {
  const server = createServer((inner) => {
    const outer = connect(socket);
    inner.pipe(outer).pipe(inner);
    // A gateway that is away is the supervisor's business, which tries again.
    inner.on("error", () => outer.destroy());
    outer.on("error", () => inner.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Asks the workload to end: in a container everybody else is the workload. The supervisor reports its end and ends
 * with it. One that has nothing to report, because nothing was admitted yet, is told to end itself.
 */
function endWorkload(): void {
  signalOthers("SIGTERM");
  const alone = setInterval(() => {
    if (signalOthers(0)) return;
    clearInterval(alone);
    setTimeout(() => process.kill(process.pid, "SIGTERM"), REPORT_GRACE_MS).unref();
  }, POLL_MS);
  alone.unref();
}

/** False when nobody else is there. */
function signalOthers(signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-1, signal);
  } catch {
    return false;
  }
}

const tokenFile = take("SLIPWAY_TOKEN_FILE");
const socket = take("SLIPWAY_GATEWAY_SOCKET");
if (tokenFile !== null) {
  process.env["SLIPWAY_TOKEN"] = readFileSync(tokenFile, "utf8");
  rmSync(tokenFile);
}
if (socket !== null) process.env["SLIPWAY_GATEWAY_URL"] = await relay(socket);
process.once("SIGINT", endWorkload);
await import(new URL("./supervisor.mjs", import.meta.url).href);
