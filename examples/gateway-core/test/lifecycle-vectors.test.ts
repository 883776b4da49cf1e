import { observeOpenShellStatus, parsePhase, type Observation, type Phase } from "slipway";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { finishStartUp, planEnd, planStartUp } from "../src/decide/recovery-plan.js";
import type { SandboxRecord } from "../src/record/record.js";
import { NOW, recordWith } from "./records.js";

interface Case {
  readonly id: string;
  readonly input: {
    readonly op: string;
    readonly recordPhase: string;
    readonly gatewayManagesLifecycle: boolean;
    readonly driverResult?: "ok" | "not_found" | "error";
    readonly observed: { readonly missing?: boolean } | null;
    readonly record?: { readonly readyReason?: string; readonly exitCode?: number };
  };
  readonly expect: {
    readonly phase: string;
    readonly driverCall?: string | null;
    readonly driverRelaunch?: boolean;
    readonly readyCondition?: { readonly status: string; readonly reason: string };
    readonly sessionCleanup?: boolean;
  };
}

const path = new URL("../../../test/fixtures/vectors/lifecycle.json", import.meta.url);
const cases = JSON.parse(readFileSync(path, "utf8")) as Case[];
const of = (op: string): [string, Case][] =>
  cases.filter(({ input }) => input.op === op).map((one) => [one.id, one]);

function recordOf({ recordPhase, record }: Case["input"]): SandboxRecord {
  const phase = parsePhase(recordPhase).phase;
  const desired = phase === "Deleting" ? "deleted" : phase.startsWith("Stop") ? "stopped" : "running";
  const result = { reason: record?.readyReason ?? "", exitCode: record?.exitCode ?? null };
  return recordWith({ phase, desired, deadline: null, ...result });
}

function observationOf(observed: Case["input"]["observed"]): Observation | null {
  if (observed === null) return null;
  const error = observed.missing === true ? { code: 404 } : undefined;
  return observeOpenShellStatus({ status: observed, error });
}

/** A phase that names none of this version is Unknown. */
const phaseIn = (word: string): Phase => parsePhase(word).phase;

const RESULTS = { ok: "ok", not_found: "not-found", error: "error" } as const;

describe("a gateway that comes up", () => {
  it.each(of("restartRecovery"))("%s", (_id, { input, expect: expected }) => {
    const context = {
      managesLifecycle: input.gatewayManagesLifecycle,
      observation: observationOf(input.observed),
      policy: {},
    };
    const plan = planStartUp(recordOf(input), context, NOW);
    if (expected.driverCall !== undefined) expect(plan.call).toBe(expected.driverCall);
    if (expected.driverRelaunch === false) expect(plan.call).toBeNull();
    const result = RESULTS[input.driverResult ?? "error"];
    const after =
      plan.call === null ? plan.record : finishStartUp(plan.record, plan.call, result, context, NOW);
    expect(after.phase).toBe(phaseIn(expected.phase));
    if (expected.readyCondition !== undefined) {
      const { status, reason } = expected.readyCondition;
      expect(after.conditions.find(({ type }) => type === "Ready")).toMatchObject({ status, reason });
    }
    // Sessions are this process's own contacts: a stopped record has no instance to have one.
    if (expected.sessionCleanup === true) expect(after.instance).toBeNull();
  });
});

describe("a gateway that ends", () => {
  it.each(of("shutdownSweep"))("%s", (_id, { input, expect: expected }) => {
    const context = { managesLifecycle: input.gatewayManagesLifecycle, observation: null, policy: {} };
    const record = recordOf(input);
    const { record: after, result } = planEnd(record, context, NOW);
    expect(result).toBe(expected.driverCall);
    expect(after.phase).toBe(expected.phase);
    expect(after.desired).toBe(record.desired);
  });
});
