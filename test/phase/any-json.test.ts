import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cases, everyCase, type Json, parameters, rebuild } from "./every-vector.js";
import { derivePhase } from "../../src/phase/index.js";
import { backendVectors, observe } from "./vectors.js";

describe("any JSON", () => {
  const keys = [
    "sandbox",
    "pods",
    "pod",
    "inspect",
    "summary",
    "qmp",
    "process",
    "events",
    "domain",
    "instanceInfo",
    "vmInfo",
    "stateDir",
    "status",
    "metadata",
    "spec",
    "conditions",
    "items",
    "containerStatuses",
    "initContainerStatuses",
    "state",
    "waiting",
    "terminated",
    "running",
    "State",
    "Status",
    "Health",
    "ExitCode",
    "FinishedAt",
    "replicas",
    "operatingMode",
    "ownerReferences",
    "deletionTimestamp",
    "reason",
    "type",
    "phase",
    "return",
    "error",
    "code",
    "containers",
    "name",
    "uid",
    "controller",
    "alive",
    "signal",
    "exists",
    "data",
    "timestamp",
    "annotations",
  ];
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      fc.constantFrom<Json>(
        null,
        true,
        false,
        0,
        1,
        -1,
        137,
        3,
        "",
        "True",
        "running",
        "Ready",
        "Failed",
        "2026-10-20T12:00:00Z",
        "0001-01-01T00:00:00Z",
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie("value"), { maxKeys: 6 }),
    ),
  })).value;
  const families = [...new Map(backendVectors.map((vector) => [vector.backend, vector])).values()];

  it.each(families.map((vector) => [vector.backend, vector] as const))(
    "gives %s an observation and a phase, and throws nothing",
    (_backend, vector) => {
      fc.assert(
        fc.property(json, fc.constantFrom(...cases), (value, [, , record]) => {
          const seen = observe(vector, record, value);
          const decision = derivePhase({ record, observation: seen, now: Date.parse(vector.now) });
          expect(decision.phase).toBeTypeOf("string");
        }),
        { seed: parameters.seed, numRuns: 300 },
      );
    },
  );

  it("survives the same garbage in place of any part of a vector", () => {
    everyCase((vector, record) => {
      fc.assert(
        fc.property(json, fc.nat(200), (garbage, at) => {
          let place = 0;
          const mutated = rebuild(vector.observation as Json, (value) => (place++ === at ? garbage : value));
          observe(vector, record, mutated);
        }),
        parameters,
      );
    });
  });
});
