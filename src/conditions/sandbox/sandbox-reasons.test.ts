import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  compareCatalogs,
  defineReasonCatalog,
  describeReason,
  type KnownReason,
  type ReasonCatalog,
  type ReasonEmission,
  type ReasonEntry,
  ReasonV1,
  ReasonV2,
  sandboxReasons,
} from "../index.js";

/** The words of the reference tables. */
const {
  meanings,
  published,
  beyond,
}: {
  meanings: Record<string, Partial<Record<KnownReason, readonly string[]>>>;
  published: Record<string, readonly string[]>;
  beyond: Record<string, readonly string[]>;
} = JSON.parse(
  readFileSync(new URL("../../../test/fixtures/reference-reasons.json", import.meta.url), "utf8"),
);

const without = (table: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(table).filter(([name]) => !names.includes(name)));

describe("sandboxReasons", () => {
  it("is a catalog that defineReasonCatalog accepts", () => {
    const catalog = defineReasonCatalog(sandboxReasons as never);
    expect(catalog).toEqual(sandboxReasons);
  });

  it("cannot be changed by one of its users", () => {
    expect(Object.isFrozen(sandboxReasons.reasons.Starting.types)).toBe(true);
  });

  it.each(Object.entries(meanings))("says what every word of %s means", (backend, groups) => {
    for (const [name, list] of Object.entries(groups)) {
      for (const word of list)
        expect([word, describeReason(word, { catalog: sandboxReasons, backend }).name]).toEqual([word, name]);
    }
  });

  it.each(Object.entries(published))("knows every reason of %s by its own name", (_publisher, list) => {
    for (const word of list)
      expect([word, describeReason(word, { catalog: sandboxReasons }).name]).toEqual([word, word]);
  });

  it("says of every word of every table what it means also where nobody names the backend", () => {
    const words = [
      ...Object.values(meanings).flatMap((groups) => Object.values(groups)),
      ...Object.values(published),
    ];
    const unknown = words
      .flat()
      .filter((word) => describeReason(word, { catalog: sandboxReasons }).found === "unknown");
    expect(words.flat().length).toBeGreaterThan(200);
    expect(unknown).toEqual([]);
  });

  it("claims no word that the tables do not name, those listed aside", () => {
    const named = new Set(
      [...Object.entries(meanings), ...Object.entries(beyond)].flatMap(([backend, words]) =>
        Object.values(words)
          .flat()
          .map((word) => `${backend} ${word}`),
      ),
    );
    const claimed = Object.values<ReasonEntry>(sandboxReasons.reasons).flatMap(({ sources = [] }) =>
      sources.flatMap(({ backend, raw }) => raw.map((word) => `${backend} ${word}`)),
    );
    expect(claimed.filter((word) => !named.has(word))).toEqual([]);
  });

  it("has every canonical reason of the backend observations, in a class that they allow", () => {
    const { canonicalReasons }: { canonicalReasons: Record<string, { class: string }> } = JSON.parse(
      readFileSync(
        new URL("../../../test/fixtures/vectors/backend-observations.json", import.meta.url),
        "utf8",
      ),
    );
    const reasons: ReasonCatalog["reasons"] = sandboxReasons.reasons;
    const wrong = Object.entries(canonicalReasons).filter(
      ([name, { class: allowed }]) => !allowed.split("|").includes(reasons[name]?.class ?? ""),
    );
    expect(wrong).toEqual([]);
  });

  it("takes a driver's own two words for what they mean", () => {
    const meaning = (word: string) =>
      describeReason(word, { catalog: sandboxReasons, backend: "podman" }).name;
    expect(meaning("Unknown")).toBe("ComputeStateUnknown");
    expect(meaning("OOMKilled")).toBe("OutOfMemory");
  });

  it("explains the backends' words that are published where no reason of ours says more", () => {
    const meaning = (word: string) => describeReason(word, { catalog: sandboxReasons }).name;
    expect(meaning("PodInitializing")).toBe("ContainerStarting");
    expect(meaning("Uninitialized")).toBe("Starting");
  });

  it("knows which versions print a word", () => {
    const versions = (reason: KnownReason, word: string) =>
      (sandboxReasons.reasons[reason].sources ?? [])
        .filter(({ raw }) => raw.includes(word))
        .map((source) => source.versions);
    expect(versions("NodeShutdown", "Shutdown")).toEqual(["<1.22"]);
    expect(versions("NodeShutdown", "Terminated")).toEqual(["<1.22", ">=1.22"]);
    expect(versions("NodeShutdown", "NodeShutdown")).toEqual([">=1.22"]);
    expect(versions("MainProcessCompleted", "PodSucceeded")).toEqual([">=0.4.6"]);
    expect(versions("MainProcessFailed", "PodFailed")).toEqual([">=0.4.6"]);
    expect(versions("Expired", "SandboxExpired")).toEqual([">=0.2.1"]);
    expect(versions("Expired", "ClaimExpired")).toEqual([undefined]);
    expect(versions("Unschedulable", "SchedulingGated")).toEqual([">=0.5.6", undefined]);
  });

  it("lists by contract the very names that its entries state", () => {
    const since = (contract: number) =>
      Object.entries(sandboxReasons.reasons)
        .filter(([, entry]) => (entry.since ?? 1) <= contract)
        .map(([name]) => name)
        .sort();
    expect(Object.keys(ReasonV1).sort()).toEqual(since(1));
    expect(Object.keys(ReasonV2).sort()).toEqual(since(2));
    expect(Object.entries(ReasonV2).every(([key, value]) => key === value)).toBe(true);
    expect(Object.isFrozen(ReasonV1) && Object.isFrozen(ReasonV2)).toBe(true);
  });

  it("has a reason for every condition type", () => {
    const used = new Set(Object.values(sandboxReasons.reasons).flatMap(({ types }) => types));
    expect(Object.keys(sandboxReasons.types).filter((type) => !used.has(type))).toEqual([]);
  });

  it("states a general reason for a mismatch at the preparation deadline and for none of the restart scan", () => {
    const mismatches = sandboxReasons.emits.filter(
      ({ reason, type }) => reason === "IsolationBackendMismatch" && type === "Ready",
    );
    expect(mismatches).toEqual([
      {
        operation: "prepare",
        cause: "isolation-backend-mismatch",
        type: "Ready",
        reason: "IsolationBackendMismatch",
        generalReasons: ["ImagePreparationTimedOut"],
        since: 2,
      },
      {
        operation: "restart",
        cause: "isolation-backend-mismatch",
        type: "Ready",
        reason: "IsolationBackendMismatch",
        since: 2,
      },
    ]);
  });

  it("would not take the change of seed 003, whichever reason of a finding it replaces", () => {
    const finding = ({ operation, cause, type }: ReasonEmission) =>
      operation === "prepare" && cause === "isolation-backend-mismatch" && type === "Ready";
    const { types, reasons } = sandboxReasons;
    const emits = sandboxReasons.emits.filter(({ since = 1 }) => since === 1);
    const contract1: ReasonCatalog = defineReasonCatalog({
      ...sandboxReasons,
      contract: 1,
      types: without(types, "IsolationBackendMatched"),
      reasons: without(reasons, "IsolationBackendMismatch", "IsolationBackendMatches"),
      emits,
    });
    expect(contract1.emits.filter(finding).map(({ reason }) => reason)).toEqual(["ImagePreparationTimedOut"]);
    const pullRequest = (catalog: ReasonCatalog): ReasonCatalog => ({
      ...sandboxReasons,
      contract: catalog.contract,
      emits: catalog.emits.map((each) => {
        if (!finding(each)) return each;
        return { ...each, generalReasons: undefined, reason: "IsolationBackendMismatch" };
      }),
    });
    for (const catalog of [contract1, sandboxReasons]) {
      expect(compareCatalogs(catalog, pullRequest(catalog))).toContainEqual(
        expect.objectContaining({
          level: "breaking",
          kind: "emission-reason",
          subject: "prepare/isolation-backend-mismatch/Ready",
        }),
      );
    }
    // What contract 2 did instead: a reader of contract 1 sees what it saw.
    const breaks = compareCatalogs(contract1, sandboxReasons).filter(({ level }) => level === "breaking");
    expect(breaks).toEqual([]);
  });

  it.each(["ImagePreparationTimedOut", "ProvisioningTimedOut", "StartFailed", "OwnershipConflict"])(
    "names the findings that %s covers, so that another reason for one of them is seen as such",
    (reason) => {
      const covered = sandboxReasons.emits.filter((each) => each.reason === reason && each.type === "Ready");
      expect(covered.length).toBeGreaterThan(1);
      const [first] = covered;
      const emits = sandboxReasons.emits.map((each) =>
        each === first ? { ...each, reason: "InspectFailed" } : each,
      );
      expect(compareCatalogs(sandboxReasons, { ...sandboxReasons, emits })).toContainEqual(
        expect.objectContaining({ level: "breaking", kind: "emission-reason" }),
      );
    },
  );

  it("says where each reason is published, and on each of its types only if at all", () => {
    const published = new Set(sandboxReasons.emits.map(({ reason }) => reason));
    expect(Object.keys(sandboxReasons.reasons).filter((reason) => !published.has(reason))).toEqual([]);
  });

  it("tells the operator what to do about everything that does not pass by itself", () => {
    const silent = Object.entries(sandboxReasons.reasons).filter(
      ([, entry]) => entry.class === "terminal" && !entry.action,
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it("maps no word of a backend to two reasons", () => {
    const claimed = new Map<string, string>();
    for (const [reason, { sources = [] }] of Object.entries(sandboxReasons.reasons)) {
      for (const { backend, raw } of sources) {
        for (const word of raw) {
          expect(claimed.get(`${backend} ${word.toLowerCase()}`) ?? reason).toBe(reason);
          claimed.set(`${backend} ${word.toLowerCase()}`, reason);
        }
      }
    }
  });
});
