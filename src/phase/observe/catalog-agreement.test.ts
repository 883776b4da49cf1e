import { describe, expect, it } from "vitest";
import { describeReason, type ReasonCatalog, sandboxReasons } from "../../conditions/index.js";
import type { Observation } from "../observation.js";
import {
  observeDockerInspect,
  observeLibvirt,
  observePod,
  observePodmanInspect,
  observeQemu,
} from "./index.js";

/**
 * A word of a backend means one thing: what the catalog says it means is what the backend's observer makes of it, where
 * the word alone decides.
 */
const reasons: ReasonCatalog["reasons"] = sandboxReasons.reasons;
const wordsOf = (asked: string): string[] =>
  Object.values(reasons).flatMap(({ sources = [] }) =>
    sources.filter(({ backend }) => backend === asked).flatMap(({ raw }) => raw),
  );
const meaning = (backend: string, word: string): string | undefined =>
  describeReason(word, { catalog: sandboxReasons, backend }).name;

const podOf = (state: object, phase: string) => ({
  pod: {
    spec: { restartPolicy: "Never", containers: [{ name: "main" }] },
    status: { phase, containerStatuses: [{ name: "main", state }] },
  },
});
const container = (status: string) => ({
  inspect: { State: { Status: status, Running: status === "running", ExitCode: 0, Error: "" } },
});

/** Where a word can stand for a failure, by backend. */
const positions: Record<string, (word: string) => Observation[]> = {
  kubernetes: (reason) => [
    observePod(podOf({ waiting: { reason } }, "Pending")),
    observePod(podOf({ terminated: { reason, exitCode: 1 } }, "Failed")),
    observePod({ pod: { status: { phase: "Failed", reason } } }),
    observePod({
      pod: {
        spec: { restartPolicy: "Never", containers: [{ name: "main" }] },
        status: {
          phase: "Failed",
          containerStatuses: [{ name: "main", state: { terminated: { reason: "Error", exitCode: 137 } } }],
          conditions: [{ type: "DisruptionTarget", status: "True", reason }],
        },
      },
    }),
  ],
  docker: (word) => [observeDockerInspect(container(word))],
  podman: (word) => [observePodmanInspect(container(word))],
  qemu: (word) => [
    observeQemu({ qmp: { return: { status: word } } }),
    observeQemu({
      qmp: { return: { status: "shutdown" } },
      events: [{ event: "SHUTDOWN", data: { reason: word } }],
    }),
  ],
  libvirt: (word) => {
    const [state, reason = 0] = word.split("/").map(Number);
    return [observeLibvirt({ domain: { state, reason } })];
  },
};

/**
 * Words whose ends the observers name more exactly than the catalog, by backend: contract 2 was published with the general
 * name for them, and a word that moves to another reason takes it from everyone who looks for the first.
 */
const finer: Record<string, Record<string, string>> = {
  kubernetes: { ContainerStatusUnknown: "Killed", Unknown: "NodeShutdown" },
  libvirt: { "5/3": "GuestPanicked", "6": "GuestPanicked" },
};
/** What an observer calls a failure that no word is known for, or that something else than the word tells. */
const general = ["ProcessExited", "Killed", "AdmissionRejected"];
/** The same finding under the name of what was being done. */
const also: Record<string, string> = {
  ContainerDead: "RemovalFailed",
  ContainerRestarting: "CrashLoop",
};

describe("the catalog and the observers", () => {
  it.each(Object.keys(positions))("call a failure by one name: %s", (backend) => {
    let named = 0;
    for (const word of wordsOf(backend)) {
      const meant = finer[backend]?.[word] ?? meaning(backend, word) ?? "";
      const seen = (positions[backend]?.(word) ?? []).flatMap(({ failureReason }) => failureReason ?? []);
      const specific = seen.filter((name) => !general.includes(name) && name !== also[meant]);
      expect([word, ...new Set(specific)]).toEqual([word, ...(specific.length > 0 ? [meant] : [])]);
      named += specific.length;
      // A terminal word that its own position knows must be known there by its name.
      if (seen.length > 0 && general.includes(meant))
        expect([word, seen.includes(meant)]).toEqual([word, true]);
    }
    expect(named).toBeGreaterThan(backend === "docker" || backend === "podman" ? -1 : 2);
  });

  it("keep the general name of contract 2 where an observer has a finer one", () => {
    const ended = (reason: string, exitCode: number) =>
      observePod(podOf({ terminated: { reason, exitCode } }, "Failed")).failureReason;
    const crashed = (state: number, reason: number) =>
      observeLibvirt({ domain: { state, reason } }).failureReason;
    expect([ended("ContainerStatusUnknown", 137), ended("Unknown", 255)]).toEqual(["Killed", "NodeShutdown"]);
    expect([crashed(5, 3), crashed(6, 0)]).toEqual(["GuestPanicked", "GuestPanicked"]);
    for (const [backend, words] of Object.entries(finer))
      for (const word of Object.keys(words)) expect(meaning(backend, word)).toBe("ProcessExited");
    // Podman's driver says `Unknown` of a state.
    expect(meaning("podman", "Unknown")).toBe("ComputeStateUnknown");
  });
});
