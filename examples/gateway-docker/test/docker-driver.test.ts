import { describeReason } from "slipway/conditions";
import { derivePhase, observeDockerInspect } from "slipway/phase";
import * as fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { containerSpec, tokenArchive } from "../src/container-spec.js";
import { optionsFromEnvironment } from "../src/docker-drivers.js";
import { parseDockerOptions, parseReference, pulledReference } from "../src/docker-options.js";
import { connectEngine, engineMessage, jsonLines } from "../src/engine.js";
import { laterFirst, startOf } from "../src/marks.js";
import { observeSandbox } from "../src/observe.js";
import { dockerReasons } from "../src/reasons.js";

const request = {
  sandbox: { id: "sb-1", name: "one" },
  instance: { id: "i-1", attemptNumber: 2, run: 3 },
  image: { name: "x:1" },
  command: ["{image}/bin/sh", "{image}", "plain"],
  options: {},
  access: { url: "http://127.0.0.1:7300", token: "a-secret", budgetMs: 5000 },
};
const surroundings = {
  gateway: "g",
  network: "none",
  socketDir: "/data/door",
  init: true,
  stopGraceMs: 10_000,
};

describe("the container of a run", () => {
  it("has no secret, no capability, no restart of its own, and its marks", async () => {
    const options = {
      memoryBytes: 100_000_000,
      cpus: 1.5,
      healthcheck: { command: ["true"], intervalMs: 1000 },
    };
    const spec = containerSpec(request, "sha256:1", options, surroundings);
    expect(JSON.stringify(spec)).not.toContain("a-secret");
    expect(spec).toMatchObject({
      name: "slipway-sb-1-2.3",
      Labels: { "slipway.dev/gateway": "g", "slipway.dev/instance-id": "i-1", "slipway.dev/start": "2.3" },
      Healthcheck: { Test: ["CMD", "true"], Interval: 1_000_000_000 },
      HostConfig: {
        NetworkMode: "none",
        CapDrop: ["ALL"],
        RestartPolicy: { Name: "no" },
        Memory: 100_000_000,
        MemorySwap: 100_000_000,
        NanoCpus: 1_500_000_000,
      },
    });
    expect(spec.Env).toContain('SLIPWAY_COMMAND=["/bin/sh","/","plain"]');
    // What the engine signals is the first process alone, also with another signal than that of a stop.
    expect(spec.Env).toContain("SLIPWAY_ASKED_ALONE=1");
    expect((await tokenArchive("a-secret")).includes("a-secret")).toBe(true);
  });
});

describe("references of images", () => {
  it.each([
    ["busybox", "busybox:latest"],
    ["library/busybox:1", "library/busybox:1"],
    ["localhost:5000/a/b_c", "localhost:5000/a/b_c:latest"],
    ["127.0.0.1:5000/x:Tag-1.0", "127.0.0.1:5000/x:Tag-1.0"],
    [`x@sha256:${"0".repeat(64)}`, `x@sha256:${"0".repeat(64)}`],
  ])("%s is pulled as %s", (reference, pulled) => {
    expect(pulledReference(reference)).toBe(pulled);
  });

  it.each(["", "UPPER", "a b", "x:", "x:-", "x@sha256:12", "/x", "x//y", "x@y@z", "-x", "a".repeat(300)])(
    "%j is none",
    (reference) => expect(parseReference(reference)).toBeNull(),
  );

  it("is total, and slow for no text", () => {
    fc.assert(fc.property(fc.string({ maxLength: 2000 }), (text) => void parseReference(text)));
    expect(parseReference("a-".repeat(120) + "!")).toBeNull();
  });
});

describe("options", () => {
  it("names the field and the value that is wrong", () => {
    expect(() => parseDockerOptions({ pids: 0 })).toThrow(/driverOptions\.pids .*0/);
    expect(() => parseDockerOptions({ healthcheck: { command: ["x"], retries: 1.5 } })).toThrow(
      /driverOptions\.healthcheck\.retries/,
    );
    expect(() => optionsFromEnvironment({ SLIPWAY_DOCKER_SOCKET: "yes" })).toThrow("SLIPWAY_DOCKER_SOCKET");
    expect(optionsFromEnvironment({ SLIPWAY_DOCKER_SOCKET: "1" })).toMatchObject({ socket: true });
  });
});

describe("the engine's address", () => {
  it.each([
    ["unix:///run/podman/podman.sock", { socketPath: "/run/podman/podman.sock", host: undefined }],
    ["tcp://10.0.0.1:2375", { host: "10.0.0.1", port: 2375, protocol: "http" }],
    ["tcp://10.0.0.1:2376", { host: "10.0.0.1", port: 2376, protocol: "https" }],
  ])("%s", (address, expected) => {
    const before = process.env["DOCKER_HOST"];
    process.env["DOCKER_HOST"] = "tcp://192.0.2.1:1";
    try {
      expect(connectEngine(address).modem).toMatchObject(expected);
    } finally {
      if (before === undefined) delete process.env["DOCKER_HOST"];
      else process.env["DOCKER_HOST"] = before;
    }
  });

  it("says what the engine said", () => {
    const error = Object.assign(new Error("(HTTP code 500) server error - no space left "), {
      statusCode: 500,
    });
    expect(engineMessage(error)).toBe("no space left");
    expect(engineMessage({ json: { message: "said" } })).toBe("said");
    expect(engineMessage("text")).toBe("text");
  });

  it("reads messages however they are cut, and skips what is none", async () => {
    const text = '{"a":"é"}\r\n\nnot json\n{"b":2}';
    const bytes = Buffer.from(text);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 })), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        const stream = Readable.from(chunks);
        const found: unknown[] = [];
        for await (const message of jsonLines(stream)) found.push(message);
        expect(found).toEqual([{ a: "é" }, { b: 2 }]);
      }),
    );
  });
});

describe("what is seen of a sandbox", () => {
  const found = {
    ...{ inspect: null, workspace: true, wasStarted: false, launching: false },
    ...{ observedAt: 1, skewMs: 0 },
  };
  const run = { instanceId: "i-1", desired: "running" } as const;

  it.each([
    ["no workspace: gone", { ...found, workspace: false }, run, { exists: false, workload: "absent" }],
    ["a workspace alone: nothing runs", found, run, { exists: true, running: false, failureReason: null }],
    ["while this process starts it", { ...found, launching: true }, run, { bootstrapping: true }],
    ["its container lost", { ...found, wasStarted: true }, run, { failureReason: "ComputeResourceMissing" }],
    [
      "its container lost after a stop",
      { ...found, wasStarted: true },
      { ...run, desired: "stopped" as const },
      { failureReason: null, running: false },
    ],
    ["being deleted", found, { ...run, desired: "deleted" as const }, { deleting: true }],
  ])("%s", (_, facts, expected, seen) => {
    expect(observeSandbox(facts, expected)).toMatchObject(seen);
  });

  it.each([
    [
      "the run that is expected, removed by somebody",
      "i-1",
      "running",
      { deleting: false, terminating: true },
    ],
    ["the run before, removed by a start", "i-0", "running", { deleting: false, stale: true }],
    ["one that a delete removes", "i-1", "deleted", { deleting: true }],
  ] as const)("a container that is going is not the sandbox: %s", (_, instance, desired, seen) => {
    const Config = { Labels: { "slipway.dev/instance-id": instance } };
    const inspect = { State: { Status: "removing" }, Config };
    const observation = observeSandbox({ ...found, inspect }, { ...run, desired });
    expect(observation).toMatchObject({ exists: true, running: false, ...seen });
    const record = { phase: "Ready", desired, since: 0, instanceId: "i-1" } as const;
    const { phase } = derivePhase({ record, observation, now: 2 });
    expect(phase).toBe(desired === "deleted" ? "Deleting" : instance === "i-1" ? "Stopping" : "Ready");
  });

  it("knows the end of its run by the label, also where the engine's clock is behind the gateway's", () => {
    const State = { Status: "exited", ExitCode: 3, FinishedAt: "2026-11-29T12:00:00Z" };
    const inspect = { State, Config: { Labels: { "slipway.dev/instance-id": "i-1" } } };
    const startRequestedAt = Date.parse(State.FinishedAt) + 60_000;
    const dated = { ...run, startRequestedAt, previousFinishedAt: startRequestedAt - 1000 };
    expect(observeSandbox({ ...found, inspect }, dated)).toMatchObject({ stale: false, exitCode: 3 });
    // Without an identity to go by, time is all that there is.
    expect(observeSandbox({ ...found, inspect }, { ...dated, instanceId: null })).toMatchObject({
      stale: true,
      exitCode: null,
    });
  });

  it("dates an end by the gateway's clock, and compares it by one clock", () => {
    const finishedAt = Date.parse("2026-11-29T12:00:00.250Z");
    const State = { Status: "exited", ExitCode: 3, FinishedAt: "2026-11-29T12:00:00.250Z" };
    const inspect = { State };
    const look = (skewMs: number, startRequestedAt: number, previousFinishedAt: number | null = null) =>
      observeSandbox({ ...found, inspect, skewMs }, { startRequestedAt, previousFinishedAt });
    // Behind by five seconds: it ended two seconds after its start, and not three before.
    const own = { completed: true, stale: false, exitCode: 3, finishedAt: finishedAt + 5000 };
    expect(look(-5000, finishedAt + 3000)).toMatchObject(own);
    expect(look(-5000, finishedAt + 6000)).toMatchObject({ completed: false, stale: true });
    expect(look(5000, finishedAt - 7000)).toMatchObject({ ...own, finishedAt: finishedAt - 5000 });
    expect(look(5000, finishedAt - 7000, finishedAt - 5000)).toMatchObject({ stale: true });
    expect(look(0, finishedAt)).toMatchObject({ ...own, finishedAt });
  });

  it("is what the library sees of a container", () => {
    const inspect = {
      State: { Status: "running", Running: true },
      Config: { Labels: { "slipway.dev/instance-id": "i-1" } },
    };
    expect(observeSandbox({ ...found, inspect }, run)).toEqual(
      observeDockerInspect({ inspect }, { run, observedAt: 1 }),
    );
  });
});

it("orders starts by attempt and then by run, unreadable marks last", () => {
  const marks = ["1.2", "2.1", "1.10", "", "x.y"].map((start) => startOf({ "slipway.dev/start": start }));
  expect(marks.sort(laterFirst).map(({ attemptNumber, run }) => `${attemptNumber}.${run}`)).toEqual([
    "2.1",
    "1.10",
    "1.2",
    "0.0",
    "0.0",
  ]);
});

it("publishes reasons of its catalog only", () => {
  const src = join(import.meta.dirname, "../src");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const text = files.map((name) => readFileSync(join(src, name), "utf8")).join("\n");
  const named = [
    ...text.matchAll(/(?:PermanentDriverError|refusal)\(\s*"([A-Za-z]+)"|failureReason: lost \? "(\w+)"/g),
  ];
  const names = [...named.map(([, a, b]) => a ?? b ?? ""), "ImageInvalid", "ImagePullFailed"];
  expect(names.length).toBeGreaterThan(6);
  for (const name of names) {
    expect(describeReason(name, { catalog: dockerReasons })).toMatchObject({ found: "reason", name });
  }
});
