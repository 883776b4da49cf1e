/**
 * The first thing that runs in a container: takes the token out of its file, opens a way to the gateway where there is
 * no network, passes a stop on to everything inside, and becomes the supervisor.
 */
import { readFileSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";

const SIGTERM_CODE = 143;

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

/** In a container everybody else is the workload. Its end is reported by the supervisor, which ends with it. */
function endWorkload(): void {
  try {
    process.kill(-1, "SIGTERM");
  } catch {
    // Nobody is there: nothing was admitted yet.
    process.exit(SIGTERM_CODE);
  }
}

const tokenFile = take("SLIPWAY_TOKEN_FILE");
const socket = take("SLIPWAY_GATEWAY_SOCKET");
if (tokenFile !== null) {
  process.env["SLIPWAY_TOKEN"] = readFileSync(tokenFile, "utf8");
  rmSync(tokenFile);
}
if (socket !== null) process.env["SLIPWAY_GATEWAY_URL"] = await relay(socket);
process.on("SIGTERM", endWorkload);
await import(new URL("./supervisor.mjs", import.meta.url).href);
