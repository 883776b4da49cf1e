import { describe, expect, it } from "vitest";
import {
  compareCatalogs,
  type Condition,
  conditionIsTrue,
  convertConditions,
  defineReasonCatalog,
  describeReason,
  getCondition,
  matchesReason,
  mergeConditions,
  parseConditions,
  type ReasonCatalog,
  sandboxReasons,
  sanitizeReason,
  setCondition,
  summarize,
  validateCondition,
} from "./index.js";

/** Cases that follow from the design and from Kubernetes' conventions, one by one. */
const T = "2026-01-01T00:00:00Z";
const LATER = "2026-01-01T00:00:01Z";
const base: Condition = { type: "Ready", status: "True", reason: "A", message: "", lastTransitionTime: T };
const of = (fields: Partial<Condition> & Record<string, unknown>): Condition => ({ ...base, ...fields });
const read = (fields: object) => parseConditions([{ type: "Ready", ...fields }])[0];

describe("of two twins speaks", () => {
  it.each<[string, Partial<Condition>, Partial<Condition>]>([
    ["the greater generation", { observedGeneration: 2 }, { observedGeneration: 1 }],
    [
      "generation before time",
      { observedGeneration: 2 },
      { observedGeneration: 1, lastTransitionTime: LATER },
    ],
    ["generation 0 before none", { observedGeneration: 0 }, { lastTransitionTime: LATER }],
    ["any generation before a negative one", { observedGeneration: 1 }, { observedGeneration: -9 }],
    ["any generation before a broken one", { observedGeneration: 1 }, { observedGeneration: 1.5 }],
    ["any generation before text", { observedGeneration: 1 }, { observedGeneration: "9" as never }],
    ["the later time", { lastTransitionTime: LATER }, {}],
    ["the later time in another zone", { lastTransitionTime: "2026-01-01T02:00:01+02:00" }, {}],
    ["the later time, west of Greenwich", { lastTransitionTime: "2025-12-31T19:00:01-05:00" }, {}],
    ["the later time within a second", { lastTransitionTime: "2026-01-01T00:00:00.5Z" }, {}],
    ["any time before an empty one", {}, { lastTransitionTime: "" }],
    ["any time before a word", {}, { lastTransitionTime: "tomorrow" }],
    ["any time before an impossible day", {}, { lastTransitionTime: "2026-02-30T00:00:00Z" }],
    ["year 1 before no time", { lastTransitionTime: "0001-01-01T00:00:00Z" }, { lastTransitionTime: "" }],
    ["False before True", { status: "False" }, { status: "True" }],
    ["False before Unknown", { status: "False" }, { status: "Unknown" }],
    ["Unknown before True", { status: "Unknown" }, { status: "True" }],
  ])("%s", (_rule, speaks, yields) => {
    const [a, b] = [of(speaks), of(yields)];
    expect(getCondition([a, b], "Ready")).toBe(a);
    expect(getCondition([b, a], "Ready")).toBe(a);
    expect(setCondition([b, a], { ...a, type: "Ready" }, 0)).toHaveLength(1);
    expect(mergeConditions([], [], [b, a], [])).toEqual([b, a]);
  });
});

describe("setCondition", () => {
  const at = Date.parse(LATER);
  it.each<[string, Partial<Condition>, Partial<Condition>, string]>([
    ["True to False moves", {}, { status: "False" }, LATER],
    ["True to Unknown moves", {}, { status: "Unknown" }, LATER],
    ["Unknown to False moves", { status: "Unknown" }, { status: "False" }, LATER],
    ["another reason stays", {}, { reason: "B" }, T],
    ["another message stays", {}, { message: "b" }, T],
    ["another generation stays", {}, { observedGeneration: 4 }, T],
    ["another cause stays", {}, { cause: { reason: "C", message: "" } }, T],
    ["other general reasons stay", {}, { generalReasons: ["G"] }, T],
    ["the same status in another case stays", {}, { status: "true" as never, reason: "B" }, T],
    ["a status that is none is Unknown", { status: "Unknown" }, { status: "Maybe" as never, reason: "B" }, T],
    [
      "the writer's time counts with a change",
      {},
      { status: "False", lastTransitionTime: "2025-05-05T05:05:05Z" },
      "2025-05-05T05:05:05Z",
    ],
    [
      "the writer's time is none without one",
      {},
      { reason: "B", lastTransitionTime: "2025-05-05T05:05:05Z" },
      T,
    ],
    [
      "a fraction is cut",
      {},
      { status: "False", lastTransitionTime: "2025-05-05T05:05:05.999Z" },
      "2025-05-05T05:05:05Z",
    ],
  ])("%s", (_rule, stored, stated, time) => {
    const unstated = { ...of(stored), lastTransitionTime: undefined };
    const next = setCondition([of(stored)], { ...unstated, ...stated }, at);
    expect(next[0]?.lastTransitionTime).toBe(time);
    expect(next).toHaveLength(1);
  });
});

describe("a time is read", () => {
  it.each<[unknown, string]>([
    ["2026-01-01T00:00:00+00:00", T],
    ["2026-01-01T00:00:00-00:00", T],
    ["2026-01-01T05:45:00+05:45", T],
    ["2026-01-01T00:00:00.000000001Z", T],
    ["2025-12-31T24:00:00Z", T],
    ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"],
    ["2026-01-01T00:00:60Z", "2026-01-01T00:00:60Z"],
    ["2026-13-01T00:00:00Z", "2026-13-01T00:00:00Z"],
    ["2026-01-01 00:00:00Z", "2026-01-01 00:00:00Z"],
    ["2026-01-01T00:00Z", "2026-01-01T00:00Z"],
    ["2026-01-01", "2026-01-01"],
    ["Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT"],
    ["1767225600", "1767225600"],
    [1_767_225_600_000, T],
    [0, "1970-01-01T00:00:00Z"],
    [-1, "1969-12-31T23:59:59Z"],
    [{ seconds: "1767225600" }, T],
    [{ seconds: 1_767_225_600, nanos: 999_999_999 }, T],
    [{ seconds: "-1", nanos: 0 }, "1969-12-31T23:59:59Z"],
    [1e300, "1e+300"],
    [true, "true"],
  ])("%j as %s", (lastTransitionTime, expected) => {
    expect(read({ lastTransitionTime })?.lastTransitionTime).toBe(expected);
    expect(read({ last_transition_time: lastTransitionTime })?.lastTransitionTime).toBe(expected);
  });
});

describe("a protobuf peer's", () => {
  it.each<[object, Partial<Condition>]>([
    [{ status: "CONDITION_STATUS_TRUE" }, { status: "True" }],
    [{ status: "condition_status_false" }, { status: "False" }],
    [{ status: 1 }, { status: "True" }],
    [{ status: "2" }, { status: "False" }],
    [{ status: 3 }, { status: "Unknown" }],
    [{}, { status: "Unknown", reason: "", message: "" }],
    [{ observedGeneration: "12" }, { observedGeneration: 12 }],
    [{ observed_generation: "0" }, { observedGeneration: 0 }],
    [{ generalReasons: [] }, { generalReasons: [] }],
    [{ cause: { reason: "C" } }, { cause: { reason: "C", message: "" } }],
    [{ reason: 7 }, { reason: "7" }],
    [{ message: false }, { message: "false" }],
  ])("%j is read as %j", (sent, expected) => {
    expect(read(sent)).toMatchObject(expected);
    expect(read(sent)).not.toHaveProperty("unread");
  });
});

describe("the conditions are found in", () => {
  it.each<[string, unknown]>([
    ["a Kubernetes object", { kind: "Sandbox", status: { conditions: [base] } }],
    ["a watch event", { type: "ADDED", object: { status: { conditions: [base] } } }],
    ["Go's names", { Status: { Conditions: [base] } }],
    ["a reply", { sandbox: { conditions: [base] } }],
    ["a bare list", [base]],
    ["a text", JSON.stringify({ conditions: [base] })],
    ["an object beside an empty list", { conditions: [], status: { conditions: [base] } }],
  ])("%s", (_where, sent) => {
    expect(parseConditions(sent)).toEqual([base]);
  });
});

describe("a foreign word", () => {
  it.each<[string, string]>([
    ["exit status 137", "exit_status_137"],
    ["kubernetes.io/evicted", "kubernetes_io_evicted"],
    ["  spaces  ", "spaces"],
    ["Ends:", "Ends"],
    ["Ends,", "Ends"],
    ["Ends_", "Ends_"],
    ["a:b,c_d", "a:b,c_d"],
    ["9lives", "Reason_9lives"],
    ["Ünknown", "nknown"],
    ["\u0000", "NoReasonReported"],
  ])("%j is published as %j", (word, expected) => {
    expect(sanitizeReason(word)).toBe(expected);
    const [stored] = setCondition([], { ...base, reason: word }, 0);
    expect(stored?.reason).toBe(expected);
    expect(validateCondition(stored)).toEqual([]);
  });

  it.each(["Ready", "ready", "READY", "example.com/Ready", "constructor", "__proto__"])(
    "is the type that it is: %s",
    (type) => {
      const list = parseConditions([{ type, status: "True" }]);
      expect(conditionIsTrue(list, type)).toBe(true);
      expect(getCondition(list, `${type} `)).toBeUndefined();
      expect(summarize(list, { type }).text).toBe(`${type}=True`);
    },
  );
});

describe("an absent condition or generation", () => {
  it.each<[number | undefined, number | undefined, boolean]>([
    [undefined, 5, false],
    [4, 5, true],
    [5, 5, false],
    [6, 5, false],
    [0, 1, true],
    [0, undefined, false],
  ])("of %s against %s is stale: %s", (observedGeneration, generation, stale) => {
    const list = [of({ observedGeneration })];
    expect(summarize(list, { generation })).toMatchObject({ stale, status: "True" });
    expect(summarize([], { generation })).toMatchObject({ status: "Unknown", stale: false });
  });
});

describe("convertConditions between the contracts", () => {
  const newer = Object.entries(sandboxReasons.reasons).filter(([, { since = 1 }]) => since > 1);
  const to = (contract: number, list: readonly Condition[]) =>
    convertConditions(list, { catalog: sandboxReasons, contract });

  it.each(newer.map(([name]) => name))("shows %s by its general reason, and gives it back", (reason) => {
    const stored = [of({ reason, generalReasons: ["ImagePreparationTimedOut"], status: "False" })];
    const terminal = sandboxReasons.reasons[reason as never]["class"] === "terminal";
    const old = to(1, stored);
    expect(old[0]?.reason).toBe(terminal ? "ImagePreparationTimedOut" : reason);
    expect(matchesReason(old[0], reason)).toBe(true);
    expect(to(2, old)).toEqual(stored);
    expect(to(1, [of({ reason })])[0]?.reason).toBe(reason);
  });

  it.each(["Starting", "ImagePreparationTimedOut", "FromTheFuture", "", "starting"])(
    "leaves %j with no general reason alone",
    (reason) => {
      const stored = [of({ reason, cause: { reason: "IsolationBackendMismatch", message: "" } })];
      for (const contract of [1, 2, 3, 0, -1, Number.NaN]) expect(to(contract, stored)).toBe(stored);
    },
  );
});

describe("describeReason", () => {
  it.each<[string, string | undefined, string | undefined]>([
    ["CrashLoopBackOff", undefined, "CrashLoop"],
    ["crashloopbackoff", undefined, "CrashLoop"],
    ["OOMKilled", "kubernetes", "OutOfMemory"],
    ["PodInitializing", "kubernetes", "ContainerStarting"],
    ["Uninitialized", "firecracker", "Starting"],
    ["Starting", undefined, "Starting"],
    ["Terminated", "kubernetes", "NodeShutdown"],
    ["NobodySaysThis", undefined, undefined],
    ["toString", undefined, undefined],
  ])("%s of %s is %s", (word, backend, name) => {
    expect(describeReason(word, { catalog: sandboxReasons, backend }).name).toBe(name);
  });
});

describe("compareCatalogs reports", () => {
  const entry = { types: ["Ready"], class: "terminal", summary: "s" } as const;
  const emission = { operation: "prepare", cause: "late", type: "Ready", reason: "Timeout" } as const;
  const before: ReasonCatalog = defineReasonCatalog<string, string, string>({
    name: "c",
    contract: 1,
    types: { Ready: { polarity: "positive", presence: "always", summary: "s" } },
    reasons: { Timeout: entry, Other: entry, Waiting: { ...entry, class: "waiting" } },
    emits: [emission],
  });
  const changed = (change: Partial<ReasonCatalog>) =>
    defineReasonCatalog<string, string, string>({ ...before, ...change });
  const withoutTimeout = Object.fromEntries(
    Object.entries(before.reasons).filter(([name]) => name !== "Timeout"),
  );

  it.each<[string, Partial<ReasonCatalog>, string]>([
    ["nothing", {}, "none"],
    ["another reason for the finding", { emits: [{ ...emission, reason: "Other" }] }, "breaking"],
    [
      "a finer reason that says what it is a case of, in a new contract",
      {
        contract: 2,
        reasons: { ...before.reasons, Finer: { ...entry, since: 2 } },
        emits: [{ ...emission, reason: "Finer", generalReasons: ["Timeout"], since: 2 }],
      },
      "additive",
    ],
    [
      "the same without saying so",
      {
        contract: 2,
        reasons: { ...before.reasons, Finer: { ...entry, since: 2 } },
        emits: [{ ...emission, reason: "Finer", since: 2 }],
      },
      "breaking",
    ],
    ["a reason gone", { reasons: withoutTimeout, emits: [] }, "breaking"],
    ["an emission gone", { emits: [] }, "breaking"],
    ["another class", { reasons: { ...before.reasons, Waiting: entry } }, "breaking"],
    ["a new reason", { reasons: { ...before.reasons, New: entry } }, "additive"],
    ["a new emission", { emits: [emission, { ...emission, cause: "new" }] }, "additive"],
    ["other words", { reasons: { ...before.reasons, Other: { ...entry, summary: "t" } } }, "safe"],
    ["another name of the catalog", { name: "d" }, "breaking"],
  ])("%s", (_what, change, level) => {
    const levels = new Set(compareCatalogs(before, changed(change)).map((found) => found.level));
    const worst = (["breaking", "additive", "safe"] as const).find((each) => levels.has(each)) ?? "none";
    expect(worst).toBe(level);
  });
});
