import { describe, expect, it } from "vitest";
import type { Surroundings } from "../src/decide/gates.js";
import { requestDelete, requestStop } from "../src/decide/operations.js";
import { NOW, recordWith } from "./records.js";

const around: Surroundings = {
  observation: null,
  backendMatches: null,
  policy: {},
};

describe("an accepted request", () => {
  it.each([
    ["a stop from outside", "Stopping"],
    ["a backend that was found empty", "Stopped"],
    ["a result", "Completed"],
  ] as const)("to stop is in the record after %s, which keeps its phase", (_after, phase) => {
    const found = recordWith({
      phase,
      desired: "running",
      deadline: null,
      exitCode: phase === "Completed" ? 0 : null,
    });
    const first = requestStop(found, around, NOW);
    expect(first.result).toEqual({ ok: true, changed: true });
    expect(first.record).toMatchObject({ phase, desired: "stopped", since: found.since });
    expect(requestStop(first.record, around, NOW + 1).result).toEqual({ ok: true, changed: false });
  });

  it("to delete is in the record after a removal from outside, and asked for once", () => {
    const found = recordWith({ phase: "Deleting", desired: "running", deadline: null });
    const first = requestDelete(found, around, NOW);
    expect(first.result).toEqual({ ok: true, changed: true });
    expect(first.record).toMatchObject({ phase: "Deleting", desired: "deleted", since: found.since });
    expect(requestDelete(first.record, around, NOW + 1).result).toEqual({ ok: true, changed: false });
  });
});
