import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { SandboxRecord } from "../record.js";
import { observeDockerInspect, observeDockerListEntry } from "./docker.js";
import { observePodmanInspect, observePodmanListEntry } from "./podman.js";

const FINISHED = "2026-10-20T11:40:02.910283746Z";
const starting: SandboxRecord = { phase: "Starting", desired: "running", since: 0 };
const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

function state(more: Record<string, unknown>): { State: Record<string, unknown> } {
  return {
    State: { Running: false, StartedAt: "2026-10-20T09:02:08Z", FinishedAt: "0001-01-01T00:00:00Z", ...more },
  };
}

function phaseOf(inspect: unknown, record: SandboxRecord): string {
  const observation = observePodmanInspect({ inspect }, { run: { desired: record.desired } });
  return derivePhase({ record, observation, now: 0 }).phase;
}

describe("container states, by the table of both engines", () => {
  it.each([
    ["created", state({ Status: "created", StartedAt: "0001-01-01T00:00:00Z" }), "Starting", "Stopping"],
    ["created, start refused", state({ Status: "created", Error: "port taken" }), "Error", "Stopping"],
    ["created, code 127", state({ Status: "created", ExitCode: 127 }), "Error", "Stopping"],
    ["initialized", state({ Status: "initialized" }), "Starting", "Stopping"],
    ["configured", state({ Status: "configured" }), "Starting", "Stopping"],
    ["running", state({ Status: "running", Running: true }), "Ready", "Stopping"],
    [
      "running, starting",
      state({ Status: "running", Running: true, Health: { Status: "starting" } }),
      "Starting",
      "Stopping",
    ],
    [
      "running, healthy",
      state({ Status: "running", Running: true, Health: { Status: "healthy" } }),
      "Ready",
      "Stopping",
    ],
    [
      "running, reset",
      state({ Status: "running", Running: true, Health: { Status: "reset" } }),
      "Ready",
      "Stopping",
    ],
    [
      "running, old health key",
      state({ Status: "running", Running: true, Healthcheck: { Status: "unhealthy" } }),
      "Starting",
      "Stopping",
    ],
    ["paused, Docker", state({ Status: "paused", Running: true, Paused: true }), "Starting", "Stopped"],
    ["paused, libpod", state({ Status: "paused", Running: false, Paused: true }), "Starting", "Stopped"],
    ["paused, by flags alone", state({ Running: true, Paused: true }), "Starting", "Stopped"],
    [
      "restarting",
      state({ Status: "restarting", Running: true, Restarting: true, Pid: 0 }),
      "Starting",
      "Stopping",
    ],
    ["stopping", state({ Status: "stopping" }), "Stopping", "Stopping"],
    ["stopped", state({ Status: "stopped", ExitCode: 0, FinishedAt: FINISHED }), "Completed", "Stopped"],
    ["exited 0", state({ Status: "exited", ExitCode: 0, FinishedAt: FINISHED }), "Completed", "Stopped"],
    [
      "exited 0, OOM flag",
      state({ Status: "exited", ExitCode: 0, OOMKilled: true, FinishedAt: FINISHED }),
      "Completed",
      "Stopped",
    ],
    ["exited 3", state({ Status: "exited", ExitCode: 3, FinishedAt: FINISHED }), "Error", "Stopped"],
    ["exited 143", state({ Status: "exited", ExitCode: 143, FinishedAt: FINISHED }), "Error", "Stopped"],
    [
      "exited 137, OOM",
      state({ Status: "exited", ExitCode: 137, OOMKilled: true, FinishedAt: FINISHED }),
      "Error",
      "Stopped",
    ],
    [
      "exited, never ran",
      state({ Status: "exited", ExitCode: 128, Error: "no such file", StartedAt: "0001-01-01T00:00:00Z" }),
      "Error",
      "Stopped",
    ],
    ["removing", state({ Status: "removing" }), "Deleting", "Deleting"],
    ["dead", state({ Status: "dead", Dead: true, FinishedAt: FINISHED }), "Error", "Stopped"],
    ["unknown", state({ Status: "unknown" }), "Starting", "Stopping"],
    ["bad state", state({ Status: "bad state", Dead: true }), "Starting", "Stopping"],
    ["empty", state({ Status: "" }), "Starting", "Stopping"],
    ["a word of tomorrow", state({ Status: "hibernating" }), "Starting", "Stopping"],
    ["no state", {}, "Starting", "Stopping"],
    ["running in capitals", state({ Status: "RUNNING", Running: true }), "Ready", "Stopping"],
  ])("%s: Starting becomes %3$s, a stop %4$s", (_name, inspect, started, stopped) => {
    expect(phaseOf(inspect, starting)).toBe(started);
    expect(phaseOf(inspect, stopping)).toBe(stopped);
  });

  it.each<[string, Record<string, unknown>, Partial<Observation>]>([
    ["created", { Status: "created" }, { running: false, ready: false, readiness: "none", completed: false }],
    [
      "running without a check",
      { Status: "Running", Running: true },
      { running: true, ready: null, readiness: "none", backendReason: "Running" },
    ],
    [
      "running, by the flag alone",
      { Running: true },
      { running: true, ready: null, readiness: "none", backendReason: "running" },
    ],
    [
      "healthy",
      { Status: "running", Running: true, Health: { Status: "Healthy" } },
      { running: true, ready: true, readiness: "signal", backendReason: "Healthy", failureReason: null },
    ],
    [
      "starting",
      { Status: "running", Running: true, Health: { Status: "starting" } },
      { ready: false, readiness: "signal", backendReason: "starting", failureReason: null },
    ],
    [
      "unhealthy",
      { Status: "running", Running: true, Health: { Status: "unhealthy" } },
      { ready: false, readiness: "signal", failureReason: "HealthCheckFailed", failureClass: "transient" },
    ],
    [
      "a stop that is folded into running",
      { Status: "running", Running: false },
      { running: true, ready: false, readiness: "unreadable" },
    ],
    ["paused", { Status: "paused" }, { running: false, ready: false, suspended: true }],
    ["paused, by the flag alone", { Paused: true }, { running: false, suspended: true }],
    [
      "restarting",
      { Status: "restarting" },
      { running: false, ready: false, failureReason: "CrashLoop", failureClass: "transient" },
    ],
    ["restarting, by the flag alone", { Restarting: true, Running: true }, { failureReason: "CrashLoop" }],
    ["stopping", { Status: "stopping" }, { running: true, ready: false, terminating: true }],
    ["removing", { Status: "removing" }, { running: false, ready: false, terminating: true, deleting: true }],
    [
      "dead after it ran",
      { Status: "dead", ExitCode: 3, FinishedAt: FINISHED },
      { running: false, completed: true, exitCode: 3, failureReason: "RemovalFailed" },
    ],
    [
      "dead, with the code of a process that never ended",
      { Status: "dead", ExitCode: 0 },
      { running: false, completed: true, exitCode: null, finishedAt: null, failureReason: "RemovalFailed" },
    ],
    [
      "a word of tomorrow",
      { Status: "hibernating", Running: true },
      { running: null, ready: null, readiness: "unreadable", backendReason: "hibernating" },
    ],
    [
      "an end, whatever the flags say",
      { Status: "exited", Running: true, Paused: true, Restarting: true, ExitCode: 0, FinishedAt: FINISHED },
      { running: false, suspended: false, completed: true, exitCode: 0, endedBy: "guest" },
    ],
    [
      "a failure of its own",
      { Status: "exited", ExitCode: 3, FinishedAt: FINISHED },
      { exitCode: 3, endedBy: "guest", failureReason: "ProcessExited", failureClass: "terminal" },
    ],
    [
      "a signal, by whomever",
      { Status: "exited", ExitCode: 143, FinishedAt: FINISHED },
      { exitCode: 143, endedBy: "unknown", failureReason: "Killed" },
    ],
    [
      "an end without a code",
      { Status: "exited", FinishedAt: FINISHED },
      { completed: true, exitCode: null, endedBy: "unknown", failureReason: null },
    ],
    [
      "memory that ran out",
      { Status: "exited", ExitCode: 137, OOMKilled: true, FinishedAt: FINISHED },
      { exitCode: 137, failureReason: "OutOfMemory", failureClass: "terminal" },
    ],
    [
      "a child's memory that ran out, and an end of its own",
      { Status: "exited", ExitCode: 3, OOMKilled: true, FinishedAt: FINISHED },
      { exitCode: 3, failureReason: "ProcessExited" },
    ],
    [
      "a start that the engine refused after an earlier run",
      { Status: "exited", ExitCode: 127, Error: "no such file", FinishedAt: FINISHED },
      { completed: true, exitCode: null, failureReason: "ContainerStartFailed", message: "no such file" },
    ],
  ])("%s, fact by fact", (_name, shown, facts) => {
    expect(observeDockerInspect({ inspect: state(shown) })).toMatchObject(facts);
    expect(observePodmanInspect({ inspect: state(shown) })).toMatchObject(facts);
  });

  it("memory that ran out is a cause also where a stop was asked for", () => {
    const inspect = state({ Status: "exited", ExitCode: 137, OOMKilled: true, FinishedAt: FINISHED });
    const observation = observeDockerInspect({ inspect }, { run: { desired: "stopped" } });
    expect(observation.failureReason).toBe("OutOfMemory");
  });

  it.each([
    [3, "ProcessExited"],
    [137, "Killed"],
    [143, "Killed"],
    [-1, "Killed"],
    [255, "ProcessExited"],
    [3_221_225_786, "ProcessExited"],
  ])("exit %i is %s, and nothing when we asked for it", (code, cause) => {
    const inspect = state({ Status: "exited", ExitCode: code, FinishedAt: FINISHED });
    expect(observeDockerInspect({ inspect })).toMatchObject({ exitCode: code, failureReason: cause });
    expect(observeDockerInspect({ inspect }, { run: { desired: "stopped" } }).failureReason).toBeNull();
  });

  it.each([
    ["exited", 0],
    ["exited", 127],
    ["stopped", 0],
    ["stopped", 143],
  ])("%s with code %i is no end of a process that never ran", (Status, ExitCode) => {
    const inspect = state({ Status, ExitCode, StartedAt: "0001-01-01T00:00:00Z" });
    for (const observe of [observeDockerInspect, observePodmanInspect])
      expect(observe({ inspect })).toMatchObject({
        completed: true,
        exitCode: null,
        failureReason: "ContainerStartFailed",
      });
    expect(phaseOf(inspect, starting)).toBe("Error");
    expect(phaseOf(inspect, stopping)).toBe("Stopped");
  });

  it.each(["2026-10-20 09:02:08.123 +0000 UTC", "1970-01-01T00:00:00Z", "yesterday", "", undefined, 0])(
    "a start time that cannot be read is no process that never ran: %s",
    (StartedAt) => {
      for (const FinishedAt of [FINISHED, undefined]) {
        const inspect = state({ Status: "exited", ExitCode: 0, StartedAt, FinishedAt });
        for (const observe of [observeDockerInspect, observePodmanInspect])
          expect(observe({ inspect })).toMatchObject({ completed: true, exitCode: 0, failureReason: null });
        expect(phaseOf(inspect, starting)).toBe("Completed");
      }
    },
  );

  it("a success that ended at a time is one, whatever its start says", () => {
    for (const StartedAt of ["0001-01-01T00:00:00Z", "0001-01-01 00:00:00 +0000 UTC"]) {
      const ended = state({ Status: "exited", ExitCode: 0, StartedAt, FinishedAt: FINISHED });
      expect(phaseOf(ended, starting)).toBe("Completed");
      // A refused start has a time too, and a code that says so.
      const refused = state({ Status: "exited", ExitCode: 127, StartedAt, FinishedAt: FINISHED });
      expect(observeDockerInspect({ inspect: refused }).failureReason).toBe("ContainerStartFailed");
      const never = state({ Status: "exited", ExitCode: 0, StartedAt });
      expect(observeDockerInspect({ inspect: never }).failureReason).toBe("ContainerStartFailed");
    }
  });

  it("drops the end of the run before also where its removal has failed", () => {
    const inspect = state({ Status: "dead", Dead: true, ExitCode: 1, FinishedAt: FINISHED });
    const run = { previousFinishedAt: Date.parse(FINISHED) };
    const observation = observeDockerInspect({ inspect }, { run });
    expect(derivePhase({ record: starting, observation, now: 0 }).phase).toBe("Starting");
    const later = observeDockerInspect(
      { inspect },
      { run: { previousFinishedAt: run.previousFinishedAt - 5 } },
    );
    expect(derivePhase({ record: starting, observation: later, now: 0 }).phase).toBe("Error");
  });

  it("drops the end of the run before, and holds what the record says", () => {
    const inspect = state({ Status: "exited", ExitCode: 1, FinishedAt: FINISHED });
    const finished = Date.parse("2026-10-20T11:40:02.910Z");
    for (const run of [
      { previousFinishedAt: finished },
      { startRequestedAt: finished + 1 },
      { startRequestedAt: finished + 1, desired: "running" as const },
    ]) {
      const observation = observeDockerInspect({ inspect }, { run });
      expect(observation).toMatchObject({
        completed: false,
        exitCode: null,
        failureReason: null,
        stale: true,
      });
      expect(derivePhase({ record: starting, observation, now: 0 }).phase).toBe("Starting");
    }
    expect(observeDockerInspect({ inspect }, { run: { startRequestedAt: finished } }).completed).toBe(true);
    // A stop that was asked for meanwhile is confirmed by any end.
    expect(
      observeDockerInspect({ inspect }, { run: { startRequestedAt: finished + 1, desired: "stopped" } })
        .completed,
    ).toBe(true);
  });

  it("drops what another instance shows, and believes an object that names none", () => {
    const inspect = {
      ...state({ Status: "running", Running: true }),
      Config: { Labels: { "slipway.dev/instance-id": "i-1" } },
    };
    expect(observeDockerInspect({ inspect }, { run: { instanceId: "i-2" } }).stale).toBe(true);
    expect(observeDockerInspect({ inspect }, { run: { instanceId: "i-1" } }).stale).toBe(false);
    expect(
      observeDockerInspect(
        { inspect: state({ Status: "running", Running: true }) },
        { run: { instanceId: "i-2" } },
      ).stale,
    ).toBe(false);
    expect(
      observeDockerInspect({ inspect }, { run: { instanceId: "i-2" }, instanceKey: "other" }).stale,
    ).toBe(false);
  });
});

describe("a container that was not found, or not asked about", () => {
  it.each([
    ["Docker's inspect", (error?: unknown) => observeDockerInspect({ inspect: null, error })],
    ["Podman's inspect", (error?: unknown) => observePodmanInspect({ inspect: null, error })],
    ["Docker's list", (error?: unknown) => observeDockerListEntry({ summary: null, error })],
    ["Podman's list", (error?: unknown) => observePodmanListEntry({ summary: null, error })],
  ])("is gone by a definite answer only: %s", (_name, observe) => {
    expect(observe({ statusCode: 404 }).exists).toBe(false);
    expect(observe({ transport: "connection refused" }).exists).toBeNull();
    expect(observe().exists).toBeNull();
  });
});

describe("container lists", () => {
  it("name the run by a label", () => {
    const summary = { State: "running", Labels: { "slipway.dev/instance-id": "i-1" } };
    for (const observe of [observeDockerListEntry, observePodmanListEntry]) {
      expect(observe({ summary })).toMatchObject({ instanceId: "i-1", stale: false });
      expect(observe({ summary }, { run: { instanceId: "i-2" } }).stale).toBe(true);
    }
  });

  it("take the inspect answer where there is one, and an inspect not-found for absence", () => {
    const summary = { State: "exited", Status: "Exited (1)" };
    const inspect = state({ Status: "running", Running: true });
    expect(observeDockerListEntry({ summary, inspect }).running).toBe(true);
    expect(observePodmanListEntry({ summary, inspect }).running).toBe(true);
    expect(observeDockerListEntry({ summary, inspect: null, error: { status: 404 } }).exists).toBe(false);
    expect(observePodmanListEntry({ summary, inspect: null, error: { status: 404 } }).exists).toBe(false);
    expect(observeDockerListEntry({ summary, inspect: null, error: { status: 500 } }).completed).toBe(true);
  });

  it("do not read the code from the status text, nor health", () => {
    expect(
      observeDockerListEntry({ summary: { State: "exited", Status: "Exited (0) 1 hour ago" } }),
    ).toMatchObject({
      completed: true,
      exitCode: null,
      endedBy: "unknown",
    });
    const up = observeDockerListEntry({ summary: { State: "running", Status: "Up 2 minutes (unhealthy)" } });
    expect(up).toMatchObject({ running: true, ready: null, readiness: "none" });
    expect(
      observeDockerListEntry({ summary: { State: "running", Health: { Status: "healthy" } } }).ready,
    ).toBe(true);
  });

  it.each([
    ["Docker's list", observeDockerListEntry],
    ["Podman's list", observePodmanListEntry],
  ])(
    "that run and show no health are ready, as the containers without a check that most are: %s",
    (_name, observe) => {
      const observation = observe({ summary: { State: "running" } });
      expect(derivePhase({ record: starting, observation, now: 0 }).phase).toBe("Ready");
      const policy = { requireSession: true };
      expect(derivePhase({ record: starting, observation, now: 0, policy }).phase).toBe("Starting");
    },
  );

  it("of libpod carry the code and the end as numbers", () => {
    const summary = { State: "exited", Exited: true, ExitCode: 7, ExitedAt: 1_792_497_598 };
    expect(observePodmanListEntry({ summary })).toMatchObject({
      exitCode: 7,
      failureReason: "ProcessExited",
      finishedAt: 1_792_497_598_000,
    });
    expect(
      observePodmanListEntry({ summary: { State: "created", Exited: false, ExitCode: 0 } }),
    ).toMatchObject({
      completed: false,
      exitCode: null,
    });
    // A code counts only beside the word that it ended; a time may be a text, as the compatible list's.
    const ended = { State: "exited", ExitCode: 0, ExitedAt: FINISHED };
    expect(observePodmanListEntry({ summary: ended })).toMatchObject({
      exitCode: null,
      finishedAt: Date.parse("2026-10-20T11:40:02.910Z"),
    });
  });
});
