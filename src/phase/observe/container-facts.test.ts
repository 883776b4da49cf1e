import { describe, expect, it } from "vitest";
import { FINISHED, state } from "../../../test/phase/containers.js";
import type { Observation } from "../observation.js";
import { observeDockerInspect } from "./docker.js";
import { observePodmanInspect } from "./podman.js";

describe("container states, by the table of both engines", () => {
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
});
