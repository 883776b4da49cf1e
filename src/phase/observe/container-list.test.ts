import { describe, expect, it } from "vitest";
import { FINISHED, starting, state } from "../../../test/phase/containers.js";
import { derivePhase } from "../derive-phase.js";
import { observeDockerListEntry } from "./docker.js";
import { observePodmanListEntry } from "./podman.js";

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
