import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { bootstrapSequence, BootstrapRetrier, exponentialBackoff } from "../../src/retry/index.js";
import { InMemoryActivationLedger } from "../../src/testing/index.js";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const node = (script: string, ...args: string[]): ChildProcess => {
  const child = spawn(process.execPath, ["-e", script, ...args], { stdio: "ignore" });
  children.push(child);
  return child;
};

const GATEWAY = `
  const [path] = process.argv.slice(1);
  require("node:http").createServer((_request, response) => response.end("policy")).listen(path + "/gateway.sock");
  require("node:net").createServer((socket) => socket.end("ready")).listen(path + "/sidecar.sock");
`;
const WORKLOAD = `require("node:fs").appendFileSync(process.argv[1] + "/runs", "x")`;

it("a supervisor that is up before its gateway starts the workload once, over the kept workspace", async () => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-late-"));
  try {
    writeFileSync(join(folder, "sentinel"), "kept");
    const backoff = exponentialBackoff({ initialMs: 20, capMs: 100 });
    const retrier = new BootstrapRetrier({ backoff, attemptTimeoutMs: 1000 });
    let failures = 0;
    retrier.on("failure", () => {
      failures += 1;
      // The gateway comes up only after the supervisor has failed a few times.
      if (failures === 4) node(GATEWAY, folder);
    });
    const overSocket = (name: string, send: string): Promise<string> =>
      new Promise((resolve, reject) => {
        let text = "";
        const socket = connect(join(folder, name), () => socket.write(send));
        socket.on("data", (data) => (text += data.toString()));
        socket.on("error", reject).on("end", () => resolve(text));
      });
    const result = await bootstrapSequence({
      instanceId: "run-1",
      ledger: new InMemoryActivationLedger(),
      retrier,
      steps: [
        {
          name: "policy",
          run: () => overSocket("gateway.sock", "GET / HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n"),
        },
        { name: "enforcement", run: () => overSocket("sidecar.sock", "hello") },
      ],
      activate: async () => {
        expect(existsSync(join(folder, "runs"))).toBe(false);
        await once(node(WORKLOAD, folder), "exit");
      },
    });
    expect(result).toMatchObject({ outcome: "activated", results: { enforcement: "ready" } });
    expect(result.results["policy"]).toContain("policy");
    expect(failures).toBeGreaterThanOrEqual(4);
    expect(readFileSync(join(folder, "sentinel"), "utf8")).toBe("kept");
    expect(readFileSync(join(folder, "runs"), "utf8")).toBe("x");
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 20_000);
