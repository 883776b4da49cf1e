/**
 * The first thing that runs in a container: takes the token out of its file, opens a way to the gateway where there is
 * no network, sees to an end in good order, and becomes the supervisor.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";

const POLL_MS = 50;
/** How long the supervisor may take to report the end of a workload. */
const REPORT_GRACE_MS = 1000;
const INIT = 1;

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

let asked = false;

/** In a container everybody else is the workload. */
function askWorkload(): void {
  if (asked) return;
  asked = true;
  try {
    process.kill(-1, "SIGTERM");
  } catch {
    // Nobody is there.
  }
}

function workloadIsOver(): boolean {
  return readdirSync("/proc").every((name) => {
    const pid = Number(name);
    return !(pid > INIT) || pid === process.pid || hasEnded(pid);
  });
}

function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Its name, in parentheses, may hold anything. While this process waits, nobody buries its children.
    return stat.charAt(stat.lastIndexOf(")") + 2) === "Z";
  } catch {
    return true;
  }
}

/** A stop: the supervisor reports the workload's end and ends with it; one that has none to report is told to end. */
function stop(): void {
  askWorkload();
  const waiting = setInterval(() => {
    if (!workloadIsOver()) return;
    clearInterval(waiting);
    setTimeout(() => process.kill(process.pid, "SIGTERM"), REPORT_GRACE_MS).unref();
  }, POLL_MS);
  waiting.unref();
}

/** With this process ends the container, and the workload without a word: whatever the reason, it is asked first. */
function endInGoodOrder(graceMs: number): void {
  askWorkload();
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let left = graceMs; left > 0 && !workloadIsOver(); left -= POLL_MS)
    Atomics.wait(sleeper, 0, 0, POLL_MS);
}

const tokenFile = take("SLIPWAY_TOKEN_FILE");
const socket = take("SLIPWAY_GATEWAY_SOCKET");
const graceMs = Number(take("SLIPWAY_STOP_GRACE_MS"));
if (tokenFile !== null) {
  process.env["SLIPWAY_TOKEN"] = readFileSync(tokenFile, "utf8");
  rmSync(tokenFile);
}
if (socket !== null) process.env["SLIPWAY_GATEWAY_URL"] = await relay(socket);
process.on("SIGINT", stop);
process.on("exit", () => endInGoodOrder(graceMs));
await import(new URL("./supervisor.mjs", import.meta.url).href);
