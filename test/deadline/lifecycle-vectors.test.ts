import { describe, expect, it } from "vitest";
import { deadlineConditions, readDeadline } from "../../src/deadline/index.js";
import { decodeDeadlineState } from "../../src/schema/index.js";
import vectors from "../fixtures/vectors/lifecycle.json" with { type: "json" };
import { Driven, started } from "./support.js";

interface Vector {
  readonly id: string;
  readonly input: Record<string, unknown> & { op: string };
  readonly expect: Record<string, unknown>;
}

interface DeadlineInput {
  readonly budgets: { preparationMs: number; admissionMs: number };
  readonly attempt: string;
  readonly startAtMs: number;
  readonly initialChange: { committedAtMs: number };
  readonly events: readonly { atMs: number; kind: string; attempt?: string; committedAtMs?: number }[];
}

const ofOp = (op: string): Vector[] =>
  (vectors as unknown as Vector[]).filter((vector) => vector.input.op === op);

const plan = (preparationMs: number, admissionMs: number) => ({
  phases: [
    { name: "preparation", budgetMs: preparationMs, timeoutReason: "ImagePreparationTimedOut" },
    {
      name: "admission",
      budgetMs: admissionMs,
      renewOn: "change" as const,
      timeoutReason: "ProvisioningTimedOut",
    },
  ],
});

/** The vectors count in milliseconds; {@link Driven} in seconds from the scenarios' zero. */
function play(input: DeadlineInput): { driven: Driven; results: Record<string, unknown> } {
  const base = started(plan(input.budgets.preparationMs, input.budgets.admissionMs)).startedAt;
  let driven = new Driven(
    started(plan(input.budgets.preparationMs, input.budgets.admissionMs), {
      attempt: input.attempt,
      now: base + input.startAtMs,
      configuration: {
        generation: 1,
        digest: "initial",
        committedAt: base + input.initialChange.committedAtMs,
      },
    }),
  );
  const results: Record<string, unknown> = { admissionStarted: false };
  let generation = 1;
  for (const event of input.events) {
    const at = event.atMs / 1000;
    switch (event.kind) {
      case "configurationChanged": {
        generation += 1;
        const committedAt = base + (event.committedAtMs ?? event.atMs);
        driven.at(at, { type: "change", generation, digest: `content ${generation}`, committedAt });
        break;
      }
      case "admissionStarted": {
        const attempt = event.attempt ?? input.attempt;
        results["admissionStarted"] = driven.at(at, { type: "enter", phase: "admission", attempt }).applied;
        break;
      }
      case "restart":
        driven = new Driven(decodeDeadlineState(JSON.parse(JSON.stringify(driven.state))));
        driven.at(at, { type: "tick" });
        break;
      case "tick":
        driven.at(at, { type: "tick" });
        break;
      default:
        throw new Error(`unknown kind ${event.kind}`);
    }
  }
  const reading = readDeadline(driven.state, driven.state.observedAt);
  results["deadlineAtMs"] = reading.deadlineAt === null ? null : reading.deadlineAt - base;
  results["expired"] = driven.state.status === "expired";
  results["reason"] = driven.state.expiry?.reason;
  results["cleanup"] = driven.state.cleanup.status === "pending";
  return { driven, results };
}

describe("lifecycle vectors of the deadline", () => {
  it.each(ofOp("deadline").map((vector) => [vector.id, vector] as const))("%s", (_id, vector) => {
    const { results } = play(vector.input as unknown as DeadlineInput);
    expect(results).toMatchObject(vector.expect);
  });

  it.each(ofOp("deadlineDecode").map((vector) => [vector.id, vector] as const))("%s", (_id, vector) => {
    const record = vector.input["record"] as { preparationDeadlineMs: number; deadlineMs: number };
    const state = started(plan(record.preparationDeadlineMs, 300_000), { now: 0 });
    expect(() => decodeDeadlineState({ ...state, windowEndsAt: record.deadlineMs })).toThrow(/windowEndsAt/);
    expect(() => decodeDeadlineState(record)).toThrow(/schemaVersion/);
  });

  it.each(ofOp("deadlineExpiry").map((vector) => [vector.id, vector] as const))("%s", (_id, vector) => {
    const { budgetPhase, backendMatches, diagnostic } = vector.input as unknown as {
      budgetPhase: string;
      backendMatches: boolean;
      diagnostic: string;
    };
    const d = new Driven(started(plan(1_800_000, 300_000)));
    if (budgetPhase === "admission") d.at(10, { type: "enter", phase: "admission" });
    d.at(20, { type: "reject", generation: 1, message: diagnostic });
    d.at(5000, { type: "tick" });
    const mismatch = { reason: "IsolationBackendMismatch", message: "restore the selection" };
    const [ready] = deadlineConditions(
      d.state,
      d.state.observedAt,
      backendMatches ? {} : { cause: mismatch },
    );
    expect(ready).toMatchObject(vector.expect["readyCondition"] as object);
    expect(ready?.message.includes(diagnostic)).toBe(vector.expect["diagnosticKept"]);
    expect(ready?.cause).toBe(undefined);
    expect(d.state.cleanup.status === "pending").toBe(vector.expect["cleanup"]);
  });
});
