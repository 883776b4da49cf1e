import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { CommandIo } from "../../src/cli/command.js";
import { lockText } from "../../src/cli/reasons/load-catalog.js";
import { run } from "../../src/cli/run.js";
import {
  type Condition,
  compareCatalogs,
  convertConditions,
  defineReasonCatalog,
  matchesReason,
  parseConditions,
  readContract,
  type ReasonCatalog,
  sandboxReasons,
  stateIsolationMismatch,
} from "../../src/conditions/index.js";
import { conditionListSchema } from "../../src/schema/index.js";

/**
 * Seed 003: the reason of a preparation timeout was changed in place, and every client that matched it went blind.
 * Five consumers read what a gateway publishes: none of them may have to change, and none may be kept from the finding.
 */
const now = Date.UTC(2026, 0, 1);
const message = "restore the gateway selection or create a new sandbox";
const timeout = "ImagePreparationTimedOut";
const mismatch = "IsolationBackendMismatch";

const found = {
  preparation: stateIsolationMismatch([], { now, timedOut: true, message, observedGeneration: 4 }),
  restartScan: stateIsolationMismatch([], { now, timedOut: false, message, observedGeneration: 4 }),
};

/** What a gateway answers to a request with this header. */
function serve(stored: readonly Condition[], header?: string): string {
  const conditions = convertConditions(stored, { catalog: sandboxReasons, contract: readContract(header) });
  return JSON.stringify({ name: "s1", status: { phase: "Error", conditions } });
}

/** Each consumer answers whether a reply says a reason; written as its users write it, without this library. */
type Plain = {
  type: string;
  status: string;
  reason: string;
  cause?: { reason: string };
  generalReasons?: string[];
};
const conditionsOf = (reply: string) =>
  (JSON.parse(reply) as { status: { conditions: Plain[] } }).status.conditions;

/** 1. Automation that compares conditions[].reason. */
const automation = (reply: string, reason: string): boolean =>
  conditionsOf(reply).some((each) => each.reason === reason);

/** 2. A script over the JSON of the command line. */
function jq(reply: string, filter: string): string {
  const run = spawnSync("jq", ["-r", filter], { input: reply, encoding: "utf8" });
  if (run.status !== 0) throw new Error(run.stderr);
  return run.stdout.trim();
}
const hasJq = spawnSync("jq", ["--version"]).status === 0;

/** 3. A TypeScript SDK: camelCase objects, an open union of known words, unknown fields ignored. */
function typescriptSdk(reply: string, reason: string): boolean {
  const ready = conditionsOf(reply).find(({ type }) => type === "Ready");
  return ready?.status === "False" && ready.reason === reason;
}

/** 4. A Python SDK: snake_case dictionaries, built from the fields it knows and no others. */
function pythonSdk(reply: string, reason: string): boolean {
  const known = conditionsOf(reply).map(({ type, status, reason: word }) => ({
    condition_type: type,
    status,
    reason: word,
  }));
  return known.some(
    (each) => each.condition_type === "Ready" && each.status === "False" && each.reason === reason,
  );
}

/** 5. A Go SDK: exported fields, looked up by type in a loop, strings compared. */
function goSdk(reply: string, reason: string): boolean {
  const Conditions = conditionsOf(reply).map((each) => ({
    Type: each.type,
    Status: each.status,
    Reason: each.reason,
  }));
  for (const condition of Conditions) {
    if (condition.Type === "Ready") return condition.Status === "False" && condition.Reason === reason;
  }
  return false;
}

const consumers = { automation, typescriptSdk, pythonSdk, goSdk };

describe("an old client that knows only the timeout", () => {
  it.each(Object.entries(consumers))("keeps working against a new gateway: %s", (_name, sees) => {
    for (const header of [undefined, "1", "", "latest"])
      expect(sees(serve(found.preparation, header), timeout)).toBe(true);
    expect(sees(serve(found.restartScan), timeout)).toBe(false);
  });

  it.skipIf(!hasJq)("keeps working against a new gateway: a shell script with jq (needs jq)", () => {
    const script = '.status.conditions[] | select(.type == "Ready" and .status == "False") | .reason';
    expect(jq(serve(found.preparation), script)).toBe(timeout);
    expect(jq(serve(found.restartScan), script)).toBe(mismatch);
    const any = `any(.status.conditions[]; .reason == "${timeout}")`;
    expect(jq(serve(found.preparation), any)).toBe("true");
    expect(jq(serve(found.restartScan), any)).toBe("false");
  });
});

describe("a client that looks for the mismatch", () => {
  it.each(Object.keys(found) as (keyof typeof found)[])(
    "sees it in either contract with this library: %s",
    (finding) => {
      for (const header of [undefined, "2", "7"]) {
        const list = parseConditions(serve(found[finding], header));
        expect(
          list.filter(({ type }) => type === "Ready").every((ready) => matchesReason(ready, mismatch)),
        ).toBe(true);
        expect(
          list.some(({ type, status }) => type === "IsolationBackendMatched" && status === "False"),
        ).toBe(true);
      }
    },
  );

  it.skipIf(!hasJq)("sees it in either contract without this library: jq (needs jq)", () => {
    const script = `.status.conditions[] | select(.type == "Ready") | [.reason, .cause.reason?] | any(. == "${mismatch}")`;
    const companion = '.status.conditions[] | select(.type == "IsolationBackendMatched") | .status';
    for (const stored of Object.values(found)) {
      for (const header of ["1", "2"]) {
        expect(jq(serve(stored, header), script)).toBe("true");
        expect(jq(serve(stored, header), companion)).toBe("False");
      }
    }
  });

  it("that asks for contract 2 is given the mismatch itself", () => {
    for (const sees of Object.values(consumers)) {
      expect(sees(serve(found.preparation, "2"), mismatch)).toBe(true);
      expect(sees(serve(found.preparation, "2"), timeout)).toBe(false);
    }
    // The library's matcher still finds the general reason.
    expect(matchesReason(parseConditions(serve(found.preparation, "2"))[0], timeout)).toBe(true);
  });
});

describe("what is published", () => {
  it("holds strings for every enumeration, in every contract, and is what Kubernetes accepts", () => {
    for (const stored of Object.values(found)) {
      for (const header of ["1", "2"]) {
        const list = conditionsOf(serve(stored, header));
        expect(conditionListSchema.safeParse(list).error).toBeUndefined();
        for (const each of list)
          expect([typeof each.type, typeof each.status, typeof each.reason]).toEqual([
            "string",
            "string",
            "string",
          ]);
      }
    }
  });

  it("never shows a mismatch of the restart scan as a timeout", () => {
    for (const header of ["1", "2"]) {
      const list = parseConditions(serve(found.restartScan, header));
      expect(list.some((each) => matchesReason(each, timeout))).toBe(false);
    }
  });
});

describe("the change as the pull request of seed 003 made it", () => {
  const type = { polarity: "positive", presence: "always", summary: "Ready." } as const;
  const entry = { types: ["Ready"], class: "terminal", summary: "s" } as const;
  const finding = { operation: "prepare", cause: "isolation-backend-mismatch", type: "Ready" } as const;
  const before = defineReasonCatalog({
    name: "gateway",
    contract: 1,
    types: { Ready: type },
    reasons: { ImagePreparationTimedOut: entry, ProvisioningTimedOut: entry },
    emits: [{ ...finding, reason: timeout }],
  });
  const next = (contract: number, emits: object[], since = contract): ReasonCatalog =>
    defineReasonCatalog({
      ...before,
      contract,
      reasons: { ...before.reasons, IsolationBackendMismatch: { ...entry, since } },
      emits,
    } as never);
  const breaking = (after: ReasonCatalog) =>
    compareCatalogs(before, after).filter(({ level }) => level === "breaking");

  it("is breaking although every name is still there, and says for whom", () => {
    const [difference, ...others] = breaking(next(1, [{ ...finding, reason: mismatch }]));
    expect(others).toEqual([]);
    expect(difference?.explanation).toContain(`conditions[].reason == "${timeout}"`);
    expect(difference?.explanation).toMatch(/automation.*CLI JSON.*SDK/);
    expect(difference?.remedies).toHaveLength(2);
    expect(difference?.contracts).toEqual([1]);
  });

  it("stays breaking for readers of contract 1 when only the number of the contract is raised", () => {
    expect(breaking(next(2, [{ ...finding, reason: mismatch }]))).toHaveLength(1);
  });

  it("stays breaking when the new name is put into the old contract with the old one as its general reason", () => {
    expect(breaking(next(1, [{ ...finding, reason: mismatch, generalReasons: [timeout] }]))).toHaveLength(1);
  });

  it("fails slipway reasons check on the built-in catalog, in words and in JSON, before anything is merged", async () => {
    const emits = sandboxReasons.emits.map((each) => {
      const found = each.operation === "prepare" && each.cause === finding.cause && each.type === "Ready";
      return found ? { ...each, reason: mismatch, generalReasons: undefined } : each;
    });
    const files: Record<string, string> = {
      "reasons.lock.json": lockText(sandboxReasons),
      "catalog.json": JSON.stringify({ ...sandboxReasons, emits }),
    };
    const printed: string[] = [];
    const io: CommandIo = {
      read: (path) => files[path] ?? "",
      write: () => expect.unreachable("a check writes nothing"),
      load: () => Promise.reject(new Error("no module")),
      print: (line) => printed.push(line),
      complain: (line) => printed.push(line),
      now: () => now,
      version: () => "0.0.0",
    };
    const check = ["reasons", "check", "--catalog", "catalog.json"];
    expect(await run(check, io)).toBe(1);
    const words = printed.splice(0).join("\n");
    expect(words).toContain(`Ready shows ${mismatch} where it showed ${timeout}`);
    expect(words).toContain(`conditions[].reason == "${timeout}"`);
    expect(words).toMatch(/automation.*CLI JSON.*SDK/);
    expect(words.match(/way out:/g)).toHaveLength(2);
    expect(await run([...check, "--json"], io)).toBe(1);
    const { ok, differences } = JSON.parse(printed.join("\n")) as {
      ok: boolean;
      differences: { level: string }[];
    };
    expect(ok).toBe(false);
    expect(differences.filter(({ level }) => level === "breaking")).toMatchObject([
      { kind: "emission-reason", contracts: [1] },
      { kind: "emission-match", contracts: [2] },
    ]);
  });

  it("is not breaking by either way out", () => {
    expect(breaking(next(2, [{ ...finding, reason: mismatch, generalReasons: [timeout] }]))).toEqual([]);
    const companion = { ...finding, cause: "isolation-backend-mismatch-found", reason: mismatch };
    expect(breaking(next(1, [{ ...finding, reason: timeout }, companion]))).toEqual([]);
  });
});
