import { describe, expect, it } from "vitest";
import { FINISHED, phaseOf, starting, state, stopping } from "../../../test/phase/containers.js";
import { derivePhase } from "../derive-phase.js";
import { observeDockerInspect, observeDockerListEntry } from "./docker.js";
import { observePodmanInspect, observePodmanListEntry } from "./podman.js";

describe("container states, by the table of both engines", () => {
  it.each([
    ["created", state({ Status: "created", StartedAt: "0001-01-01T00:00:00Z" }), "Starting", "Stopped"],
    ["created, start refused", state({ Status: "created", Error: "port taken" }), "Error", "Stopped"],
    ["created, code 127", state({ Status: "created", ExitCode: 127 }), "Error", "Stopped"],
    ["initialized", state({ Status: "initialized" }), "Starting", "Stopping"],
    ["configured", state({ Status: "configured" }), "Starting", "Stopped"],
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
