import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { hasOpenssl, makeCertificates } from "../../../test/retry/certificates.js";
import type { SandboxView } from "../src/http/view.js";
import { eventually } from "../src/testing/eventually.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  readonly dir: string;
  /** What it logged, one object for each line. */
  readonly logged: Record<string, unknown>[];
}

async function serve(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
  const dir = await tempDir();
  const args = [cli, "--json", "serve", "--data", join(dir, "data"), ...options];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  running.push(child);
  const logged: Record<string, unknown>[] = [];
  let rest = "";
  child.stderr.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) logged.push(JSON.parse(line) as Record<string, unknown>);
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  return { child, url, dir, logged };
}

/** Sends the head of a request, and the body when told to: it is under way as long as the test wants. */
function slowRequest(url: string, body: string) {
  const sent = request(`${url}/v1/sandboxes`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
  });
  const answer = new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, connection: response.headers.connection });
    });
  });
  sent.write(body.slice(0, 10));
  return { answer, finish: () => sent.end(body.slice(10)) };
}

describe("the end of a gateway's process", () => {
  it("finishes what is under way, ends streams, begins nothing new, and comes by itself", async () => {
    // Longer than a timer of the host can be.
    const limits = ["--drain-ms", "3000000000", "--shutdown-ms", "3100000000"];
    const { child, url, dir, logged } = await serve(["--port", "0", ...limits]);
    await directoryImage(join(dir, "image"), 1000);
    const stream = await fetch(`${url}/v1/events`);
    const reader = stream.body!.getReader();
    await reader.read();
    const body = JSON.stringify({
      name: "late",
      image: { path: join(dir, "image") },
      command: ["sleep", "60"],
    });
    const slow = slowRequest(url, body);
    // The gateway has the head of the request once it answers another one that came later.
    await fetch(`${url}/healthz`);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    for (let part = await reader.read(); !part.done; part = await reader.read());
    const { port } = new URL(url);
    await eventually("a closed port", async () => {
      const socket = connect(Number(port), "127.0.0.1");
      const refused = await Promise.race([
        once(socket, "connect").then(() => false),
        once(socket, "error").then(() => true),
      ]).catch(() => true);
      socket.destroy();
      return refused;
    });
    expect(child.exitCode).toBeNull();
    slow.finish();
    expect(await slow.answer).toEqual({ status: 201, connection: "close" });
    expect(await ended).toEqual([0, null]);
    expect(logged.filter(({ event }) => String(event).startsWith("shutdown-"))).toEqual([]);
    for (const line of logged)
      expect(line).toMatchObject({ at: expect.any(String), event: expect.any(String) });
  });

  it.each(["--drain-ms", "--shutdown-ms", "--start-ms", "--lease-ms"])(
    "is not put off by %s beyond every instant: that is refused",
    async (option) => {
      const value = "9007199254740991";
      const child = spawn(process.execPath, [cli, "serve", "--data", await tempDir(), option, value], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      running.push(child);
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
      expect(await once(child, "close")).toEqual([2, null]);
      expect(said).toContain(`option '${option} <ms>' argument '${value}' is invalid`);
    },
  );

  it("does not wait for ever for a request that never comes to its end", async () => {
    const { child, url } = await serve(["--port", "0", "--drain-ms", "200"]);
    const slow = slowRequest(url, JSON.stringify({ name: "never" }));
    const cut = expect(slow.answer).rejects.toThrow();
    await fetch(`${url}/healthz`);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await cut;
    expect(await ended).toEqual([0, null]);
  });
});

describe("a gateway's process that waits for its database", () => {
  /** On a port that nobody listens on. */
  async function waiting(options: readonly string[]) {
    const dir = await tempDir();
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const url = `postgres://nobody@127.0.0.1:${port}/none`;
    const args = [cli, "serve", "--data", dir, "--database-url", url, "--port", "0", ...options];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    running.push(child);
    const ended = once(child, "exit");
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await eventually("that it waits", () => Promise.resolve(said.includes("start-waits")));
    return { child, ended, said: () => said };
  }

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("ends at once by %s, with the code of one that it ended", async (signal, code) => {
    const { child, ended } = await waiting([]);
    child.kill(signal);
    expect(await ended).toEqual([code, null]);
  });

  it("ends at its limit, with a code that says so", async () => {
    const { ended, said } = await waiting(["--start-ms", "300"]);
    expect(await ended).toEqual([1, null]);
    expect(said()).toMatch(/error: not started within 300 ms: .*ECONNREFUSED/);
  });
});

describe.skipIf(!hasOpenssl())("a gateway's process with a certificate", () => {
  it("serves its users and its supervisors over TLS, and nothing without", async () => {
    const { good, ca, otherCa } = makeCertificates();
    const files = await tempDir();
    const place = async (name: string, content: Buffer): Promise<string> => {
      await writeFile(join(files, name), content, { mode: 0o600 });
      return join(files, name);
    };
    const [cert, key] = [await place("cert.pem", good.cert), await place("key.pem", good.key)];
    const env = { NODE_EXTRA_CA_CERTS: await place("ca.pem", ca), SLIPWAY_GATEWAY_TOKEN: "owner" };
    const { child, url, dir, logged } = await serve(
      ["--port", "0", "--tls-cert", cert, "--tls-key", key],
      env,
    );
    expect(url).toMatch(/^https:/);
    const ask = (method: string, path: string, body?: unknown, trusted = ca) =>
      new Promise<{ status: number; json: () => SandboxView }>((resolve, reject) => {
        const headers = { authorization: "Bearer owner" };
        const sent = secureRequest(`${url}${path}`, { method, headers, ca: trusted }, (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => (text += chunk.toString()));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, json: () => JSON.parse(text) as SandboxView }),
          );
        });
        sent.on("error", reject);
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      });
    await directoryImage(join(dir, "image"), 1000);
    const box = { name: "box", image: { path: join(dir, "image") }, command: ["sleep", "60"] };
    expect((await ask("POST", "/v1/sandboxes", box)).status).toBe(201);
    await eventually("readiness by a supervisor over TLS", async () => {
      return (await ask("GET", "/v1/sandboxes/box")).json().phase === "Ready";
    });
    await expect(ask("GET", "/v1/sandboxes", undefined, otherCa)).rejects.toThrow();
    await expect(fetch(`${url.replace("https", "http")}/healthz`)).rejects.toThrow();
    await ask("DELETE", "/v1/sandboxes/box");
    await eventually("the end of the sandbox", async () => {
      return (await ask("GET", "/v1/sandboxes/box")).status === 404;
    });
    expect(JSON.stringify(logged)).not.toContain("PRIVATE KEY");
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  it("is not started with one file of the two", async () => {
    const args = [cli, "serve", "--data", await tempDir(), "--tls-cert", "nowhere.pem"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    running.push(child);
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    expect(await once(child, "exit")).toEqual([2, null]);
    expect(said).toBe("error: --tls-key must be given with --tls-cert, got nothing\n");
  });
});
