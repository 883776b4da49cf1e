import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Condition,
  compareCatalogs,
  convertConditions,
  defineReasonCatalog,
  describeReason,
  matchesReason,
  type ReasonCatalog,
  type ReasonEmission,
  sandboxReasons,
} from "../index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const TYPES = ["Ready", "Other"];
const NAMES = ["A", "B", "C", "W"];
const classes = fc.constantFrom("terminal" as const, "waiting" as const);
const since = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const name = fc.constantFrom(...NAMES);
const emission: fc.Arbitrary<ReasonEmission> = fc.record({
  operation: fc.constantFrom("create", "start"),
  cause: fc.constantFrom("x", "y"),
  type: fc.constantFrom(...TYPES),
  reason: name,
  generalReasons: fc.uniqueArray(name, { maxLength: 2 }),
  since,
});
const anyCatalog = fc
  .record({
    contract: fc.integer({ min: 1, max: 3 }),
    classes: fc.array(classes, { minLength: 4, maxLength: 4 }),
    sinces: fc.array(since, { minLength: 4, maxLength: 4 }),
    names: fc.subarray(NAMES, { minLength: 1 }),
    retired: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
    emits: fc.array(emission, { maxLength: 5 }),
  })
  .map((parts): ReasonCatalog | undefined => {
    const reasons = Object.fromEntries(
      parts.names.map((reason) => {
        const index = NAMES.indexOf(reason);
        return [
          reason,
          {
            types: TYPES,
            class: parts.classes[index],
            since: Math.min(parts.sinces[index] ?? 1, parts.contract),
            summary: "s",
          },
        ];
      }),
    );
    const retired =
      parts.retired !== undefined && !(parts.retired in reasons) && parts.contract > 1
        ? { [parts.retired]: { retiredIn: 2 } }
        : {};
    const type = { polarity: "neutral", presence: "always", summary: "s" };
    const catalog = {
      name: "c",
      contract: parts.contract,
      types: { Ready: type, Other: type },
      reasons,
      retired,
      emits: parts.emits,
    };
    try {
      return defineReasonCatalog(catalog as never);
    } catch {
      return undefined;
    }
  })
  .filter((catalog) => catalog !== undefined);

/** What a server with this catalog publishes in a situation to a reader of a contract. */
function publish(
  catalog: ReasonCatalog,
  operation: string,
  cause: string,
  contract: number,
): readonly Condition[] {
  // A writer does not know its readers: it stores one condition of a type, in the newest form that it has.
  const current = new Map<string, ReasonEmission>();
  const inOrder = [...catalog.emits].sort((a, b) => (a.since ?? 1) - (b.since ?? 1));
  for (const each of inOrder) {
    if (each.operation === operation && each.cause === cause) current.set(each.type, each);
  }
  const stored = [...current.values()].map(
    ({ type, reason, generalReasons }): Condition => ({
      type,
      status: "False",
      reason,
      message: "",
      lastTransitionTime: "",
      generalReasons: generalReasons ?? [],
    }),
  );
  return convertConditions(stored, { catalog, contract });
}

/** Every answer that a client written against `before` may act on, as text. */
function answers(before: ReasonCatalog, server: ReasonCatalog): string[] {
  const names = [...Object.keys(before.reasons), ...Object.keys(before.retired ?? {})];
  const found: string[] = [];
  for (const { operation, cause } of before.emits) {
    for (let contract = 1; contract <= before.contract; contract++) {
      const list = publish(server, operation, cause, contract);
      for (const type of Object.keys(before.types)) {
        const condition = list.find((each) => each.type === type);
        const old = publish(before, operation, cause, contract).find((each) => each.type === type);
        // Where nothing was published, a new name is no answer to anything that could be asked.
        const shown = old && condition?.reason;
        const shownCause = old?.cause && condition?.cause?.reason;
        const asked = names.map((each) => [
          matchesReason(condition, each),
          matchesReason(condition, each, { cause: false }),
        ]);
        found.push(JSON.stringify([operation, cause, contract, type, shown, shownCause, asked]));
      }
      const any = names.map((each) => [
        list.some((condition) => condition.reason === each),
        list.some((condition) => matchesReason(condition, each)),
        list.some((condition) => matchesReason(condition, each, { cause: false })),
      ]);
      found.push(JSON.stringify([operation, cause, contract, any]));
    }
  }
  return found;
}

describe("compareCatalogs", () => {
  it("finds nothing between a catalog and itself", () => {
    expect(compareCatalogs(sandboxReasons, sandboxReasons)).toEqual([]);
    fc.assert(
      fc.property(anyCatalog, (catalog) => {
        const copy: ReasonCatalog = JSON.parse(JSON.stringify(catalog));
        expect(compareCatalogs(catalog, copy)).toEqual([]);
      }),
    );
  });

  it("calls a change breaking whenever a client of the older catalog would see another answer", () => {
    let breaks = 0;
    fc.assert(
      fc.property(anyCatalog, anyCatalog, (before, after) => {
        if (JSON.stringify(answers(before, before)) === JSON.stringify(answers(before, after))) return;
        breaks++;
        expect(compareCatalogs(before, after).map(({ level }) => level)).toContain("breaking");
      }),
      { numRuns: 1000, seed: 3 },
    );
    expect(breaks).toBeGreaterThan(100);
  });

  it("is not breaking for a change of emissions alone that no client sees", () => {
    let quiet = 0;
    fc.assert(
      fc.property(anyCatalog, fc.array(emission, { maxLength: 3 }), (before, emits) => {
        let after: ReasonCatalog;
        try {
          after = defineReasonCatalog({ ...before, emits });
        } catch {
          return;
        }
        if (JSON.stringify(answers(before, before)) !== JSON.stringify(answers(before, after))) return;
        quiet++;
        expect(compareCatalogs(before, after).filter(({ level }) => level === "breaking")).toEqual([]);
      }),
      { numRuns: 2000, seed: 5 },
    );
    expect(quiet).toBeGreaterThan(100);
  });

  it("names with every breaking difference who breaks and both ways out, and gives every difference words", () => {
    fc.assert(
      fc.property(anyCatalog, anyCatalog, (before, after) => {
        for (const { level, explanation, remedies } of compareCatalogs(before, after)) {
          expect(explanation).not.toBe("");
          if (level !== "breaking") expect(remedies).toBeUndefined();
          else {
            expect(explanation).toMatch(/clients|readers/);
            expect(remedies).toEqual([
              expect.stringMatching(/^Additive exposure now: [^A-Z].*\.$/),
              expect.stringMatching(/^Change in a new contract: [^A-Z].*\.$/),
            ]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is drawn more than eight kinds of breaking differences by these catalogs", () => {
    const kinds = fc
      .sample(fc.tuple(anyCatalog, anyCatalog), 500)
      .flatMap(([before, after]) => compareCatalogs(before, after))
      .flatMap(({ level, kind }) => (level === "breaking" ? [kind] : []));
    expect(new Set(kinds).size).toBeGreaterThan(8);
  });

  it("compares what a word means in whatever letter case it is looked up", () => {
    let changed = 0;
    const claim = fc.record({
      backend: fc.constantFrom("docker", "podman"),
      raw: fc.array(fc.constantFrom("a", "A", "B", "b", "dead", "Dead", "DEAD"), {
        minLength: 1,
        maxLength: 2,
      }),
    });
    const claims = fc.array(fc.array(claim, { maxLength: 2 }), { minLength: 3, maxLength: 3 });
    const catalogOf = (names: string[], sources: typeof claims extends fc.Arbitrary<infer T> ? T : never) => {
      const type = { polarity: "neutral", presence: "always", summary: "s" };
      const entries = names.map((name, at) => [
        name,
        { types: ["Ready"], class: "terminal", summary: "s", sources: sources[at] },
      ]);
      const parts = { name: "c", contract: 1, types: { Ready: type }, reasons: Object.fromEntries(entries) };
      try {
        return defineReasonCatalog(parts as never);
      } catch {
        return undefined;
      }
    };
    const names = fc.subarray(["A", "B", "Dead"]);
    fc.assert(
      fc.property(names, claims, names, claims, (had, claimed, has, claims) => {
        const [before, after] = [catalogOf(had, claimed), catalogOf(has, claims)];
        if (!before || !after) return;
        const levels = compareCatalogs(before, after).map(({ level }) => level);
        for (const word of ["a", "A", "b", "B", "dead", "Dead", "DEAD", "dEAD", "DeaD"]) {
          for (const backend of [undefined, "docker", "podman"]) {
            const meant = describeReason(word, { catalog: before, backend }).name;
            if (meant === undefined || meant === describeReason(word, { catalog: after, backend }).name)
              continue;
            changed++;
            expect(levels).toContain("breaking");
          }
        }
      }),
      { numRuns: 3000 },
    );
    expect(changed).toBeGreaterThan(500);
  });
});

describe("compareCatalogs, kind by kind", () => {
  const entry = { types: ["Ready"], class: "terminal", summary: "s" };
  const type = { polarity: "positive", presence: "always", summary: "s" };
  const base = {
    name: "c",
    contract: 1,
    types: { Ready: type },
    reasons: { A: entry, B: { ...entry, refines: ["A"], sources: [{ backend: "docker", raw: ["dead"] }] } },
    emits: [{ operation: "o", cause: "c", type: "Ready", reason: "A" }],
  };
  const { A, B } = base.reasons;
  const next = { ...base, contract: 2, retired: { Old: { retiredIn: 2 } } };

  it("says of a cause that is gone that there is none", () => {
    const C = { ...entry, since: 2 };
    const before = {
      ...next,
      reasons: { A, B, C },
      emits: [{ ...base.emits[0], reason: "C", generalReasons: ["A"] }],
    };
    const after = { ...before, emits: [{ ...base.emits[0], reason: "A" }] };
    const found = compareCatalogs(before as never, after as never).filter(
      ({ kind }) => kind === "emission-cause",
    );
    expect(found.map(({ explanation }) => explanation)).toEqual([
      expect.stringContaining("Ready shows A without a cause where it showed the cause C"),
    ]);
    expect(found[0]?.remedies).toHaveLength(2);
  });

  it.each<[string, object, object, string]>([
    ["another name", base, { ...base, name: "d" }, "breaking catalog-name"],
    ["a lower contract", { ...base, contract: 2 }, base, "breaking contract-lowered"],
    ["a new contract", base, { ...base, contract: 2 }, "additive contract-raised"],
    ["a new type", base, { ...base, types: { Ready: type, Other: type } }, "additive type-added"],
    ["a type gone", { ...base, types: { Ready: type, Other: type } }, base, "breaking type-removed"],
    [
      "a type turned round",
      base,
      { ...base, types: { Ready: { ...type, polarity: "negative" } } },
      "breaking type-polarity",
    ],
    [
      "a type present otherwise",
      base,
      { ...base, types: { Ready: { ...type, presence: "while-true" } } },
      "breaking type-presence",
    ],
    [
      "a type in other words",
      base,
      { ...base, types: { Ready: { ...type, summary: "t" } } },
      "safe type-text",
    ],
    ["a new reason", base, { ...base, reasons: { A, B, C: entry } }, "additive reason-added"],
    ["a reason gone", { ...base, reasons: { A, B, C: entry } }, base, "breaking reason-removed"],
    [
      "a reason retired at once",
      { ...next, retired: {}, reasons: { A, B, C: entry } },
      { ...next, retired: { C: { retiredIn: 2 } } },
      "breaking reason-removed",
    ],
    [
      "a reason retired in the next contract",
      { ...next, contract: 2, reasons: { A, B, C: entry } },
      { ...next, contract: 3, retired: { Old: { retiredIn: 2 }, C: { retiredIn: 3 } } },
      "safe reason-retired",
    ],
    [
      "a retired name in use again",
      next,
      { ...next, retired: {}, reasons: { A, B, Old: entry } },
      "breaking retired-name-reused",
    ],
    ["a reservation dropped", next, { ...next, retired: {} }, "breaking reservation-removed"],
    ["a reservation added", { ...next, retired: {} }, next, "safe reservation-added"],
    [
      "a retirement moved",
      { ...next, contract: 3 },
      { ...next, contract: 3, retired: { Old: { retiredIn: 3 } } },
      "breaking retired-contract",
    ],
    [
      "a retired reason explained",
      next,
      { ...next, retired: { Old: { retiredIn: 2, replacedBy: "A" } } },
      "safe retired-text",
    ],
    [
      "another class",
      base,
      { ...base, reasons: { A: { ...A, class: "transient" }, B: { ...B, class: "transient", refines: [] } } },
      "breaking reason-class",
    ],
    [
      "a later contract",
      { ...next, reasons: { A, B } },
      { ...next, reasons: { A, B: { ...B, since: 2 } } },
      "breaking reason-since",
    ],
    [
      "deprecation",
      base,
      { ...base, reasons: { A: { ...A, deprecatedIn: 1, replacedBy: "B" }, B } },
      "safe reason-deprecation",
    ],
    [
      "a refinement dropped",
      base,
      { ...base, reasons: { A, B: { ...B, refines: [] } } },
      "breaking reason-refinement-removed",
    ],
    ["other words", base, { ...base, reasons: { A: { ...A, action: "a" }, B } }, "safe reason-text"],
    [
      "phases named",
      base,
      { ...base, reasons: { A: { ...A, phases: ["Error"] }, B } },
      "safe reason-phase-removed",
    ],
    [
      "phases opened",
      { ...base, reasons: { A: { ...A, phases: ["Error"] }, B } },
      base,
      "additive reason-phase-added",
    ],
    [
      "a phase more",
      { ...base, reasons: { A: { ...A, phases: ["Error"] }, B } },
      { ...base, reasons: { A: { ...A, phases: ["Error", "Stopped"] }, B } },
      "additive reason-phase-added",
    ],
    [
      "phases in another order",
      { ...base, reasons: { A: { ...A, phases: ["X", "Y"] }, B } },
      { ...base, reasons: { A: { ...A, phases: ["Y", "X"] }, B } },
      "safe reason-phase-order",
    ],
    [
      "a word more",
      base,
      { ...base, reasons: { A: { ...A, sources: [{ backend: "docker", raw: ["exited"] }] }, B } },
      "additive source-added",
    ],
    [
      "a word moved",
      base,
      {
        ...base,
        reasons: { A: { ...A, sources: [{ backend: "docker", raw: ["Dead"] }] }, B: { ...B, sources: [] } },
      },
      "breaking source-changed",
    ],
    [
      "a word dropped",
      base,
      { ...base, reasons: { A, B: { ...B, sources: [] } } },
      "breaking source-changed",
    ],
    [
      "a version named",
      base,
      {
        ...base,
        reasons: { A, B: { ...B, sources: [{ backend: "docker", raw: ["dead"], versions: ">=1" }] } },
      },
      "safe source-text",
    ],
    [
      "a word that another backend prints too, claimed before it in the alphabet",
      base,
      {
        ...base,
        reasons: { A: { ...A, sources: [{ backend: "abacus", raw: ["dead"] }] }, B },
      },
      "breaking source-changed",
    ],
    [
      "a word that is a reason's name in another letter case, claimed by another reason",
      base,
      { ...base, reasons: { A, B: { ...B, sources: [...B.sources, { backend: "docker", raw: ["a"] }] } } },
      "breaking source-changed",
    ],
    [
      "the exact name of a reason, claimed by another one: the other letter case changes",
      base,
      { ...base, reasons: { A, B: { ...B, sources: [...B.sources, { backend: "docker", raw: ["A"] }] } } },
      "breaking source-changed",
    ],
    [
      "a name whose other spelling was a backend's word",
      base,
      { ...base, reasons: { A, B, DEAD: entry } },
      "breaking source-changed",
    ],
    [
      "a field that no reader has",
      base,
      { ...base, types: { Ready: { ...type, note: "n" } } },
      "safe catalog-text",
    ],
    ["an emission gone", base, { ...base, emits: [] }, "breaking emission-removed"],
    [
      "an emission for another finding",
      base,
      { ...base, emits: [...base.emits, { operation: "o", cause: "d", type: "Ready", reason: "A" }] },
      "additive emission-added",
    ],
    [
      "another reason emitted",
      base,
      { ...base, emits: [{ ...base.emits[0], reason: "B" }] },
      "breaking emission-reason",
    ],
    [
      "a known general reason",
      base,
      { ...base, emits: [{ ...base.emits[0], generalReasons: ["B"] }] },
      "breaking emission-match",
    ],
    [
      "an emission of the next contract",
      base,
      {
        ...base,
        contract: 2,
        reasons: { A, B, C: { ...entry, since: 2 } },
        emits: [...base.emits, { ...base.emits[0], reason: "C", since: 2, generalReasons: ["A"] }],
      },
      "additive emission-added",
    ],
    [
      "an emission of the next contract that hides the old reason",
      base,
      {
        ...base,
        contract: 2,
        reasons: { A, B, C: { ...entry, since: 2 } },
        emits: [...base.emits, { ...base.emits[0], reason: "C", since: 2 }],
      },
      "breaking emission-reason",
    ],
    [
      "another cause beside the same reason",
      {
        ...next,
        reasons: { A, C: { ...entry, since: 2 }, D: { ...entry, since: 2 } },
        emits: [{ ...base.emits[0], reason: "C", generalReasons: ["D", "A"] }],
      },
      {
        ...next,
        reasons: { A, C: { ...entry, since: 2 }, D: { ...entry, since: 2 } },
        emits: [{ ...base.emits[0], reason: "D", generalReasons: ["C", "A"] }],
      },
      "breaking emission-cause",
    ],
    [
      "a known reason on another known type",
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
      },
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [...base.emits, { ...base.emits[0], type: "Other" }],
      },
      "breaking emission-added",
    ],
    [
      "a shown reason on a new type beside",
      base,
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [...base.emits, { ...base.emits[0], type: "Other" }],
      },
      "additive emission-added",
    ],
    [
      "a retired reason whose class was not kept",
      { ...next, retired: {}, reasons: { A, B, C: { ...entry, class: "waiting" } } },
      { ...next, contract: 3, retired: { C: { retiredIn: 3 } } },
      "breaking retired-class",
    ],
    [
      "a general reason no longer stated",
      { ...base, emits: [{ ...base.emits[0], reason: "B", generalReasons: ["A"] }] },
      { ...base, emits: [{ ...base.emits[0], reason: "B" }] },
      "breaking emission-match",
    ],
    [
      "a known name that nothing showed, on a condition beside",
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [{ ...base.emits[0], reason: "B", generalReasons: ["A"] }],
      },
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [
          { ...base.emits[0], reason: "B", generalReasons: ["A"] },
          { ...base.emits[0], type: "Other" },
        ],
      },
      "breaking emission-added",
    ],
    [
      "a new name on a condition beside",
      { ...base, types: { Ready: type, Other: type } },
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A, B, C: { ...entry, types: ["Other"] } },
        emits: [...base.emits, { ...base.emits[0], type: "Other", reason: "C" }],
      },
      "additive emission-added",
    ],
  ])("judges %s", (_name, before, after, expected) => {
    const found = compareCatalogs(defineReasonCatalog(before as never), defineReasonCatalog(after as never));
    const judged = found.map(({ level, kind }) => `${level} ${kind}`);
    expect(judged).toContain(expected);
    const worst = expected.split(" ")[0];
    if (worst !== "breaking") expect(judged.filter((each) => each.startsWith("breaking"))).toEqual([]);
  });

  it("does not depend on the order in which reasons claim a word", () => {
    const claims = (backend: string) => ({ ...entry, sources: [{ backend, raw: ["dead"] }] });
    const [one, other] = [
      { A: claims("docker"), B: claims("podman") },
      { B: claims("podman"), A: claims("docker") },
    ].map((reasons) => defineReasonCatalog({ ...base, reasons } as never));
    expect(compareCatalogs(one as ReasonCatalog, other as ReasonCatalog)).toEqual([]);
    for (const catalog of [one, other] as ReasonCatalog[])
      expect(describeReason("dead", { catalog }).name).toBe("A");
  });

  it("takes a default for what it is", () => {
    const stated = { ...base, emits: [{ ...base.emits[0], since: 1, generalReasons: [] }], retired: {} };
    expect(compareCatalogs(defineReasonCatalog(base as never), defineReasonCatalog(stated as never))).toEqual(
      [],
    );
  });

  it("takes a huge contract number as it takes a small one", () => {
    const before = defineReasonCatalog({ ...base, contract: 1e9 } as never);
    expect(
      compareCatalogs(before, defineReasonCatalog({ ...base, contract: 1e9, emits: [] } as never)),
    ).toHaveLength(1);
  });

  it("names with each explanation only the contracts for which it holds", () => {
    // Readers of contract 1 lose A; readers of contract 2 know B and lose that.
    const [one, two] = [1, 2].map((since) => ({ ...entry, since }));
    const before = defineReasonCatalog({
      ...base,
      contract: 4,
      reasons: { A: one, B: two, C: one },
      emits: [{ ...base.emits[0], reason: "B", generalReasons: ["A"] }],
    } as never);
    const after = defineReasonCatalog({ ...before, emits: [{ ...base.emits[0], reason: "C" }] } as never);
    const found = compareCatalogs(before, after);
    expect(found.map(({ contracts, explanation }) => [contracts, explanation])).toEqual([
      [[1], expect.stringMatching(/shows C where it showed A.*reason == "A".*\(contract 1\)$/)],
      [[2, 3, 4], expect.stringMatching(/shows C where it showed B.*reason == "B".*\(contract 2, 3, 4\)$/)],
    ]);
    for (const { remedies } of found) expect(remedies?.[1]).toContain('generalReasons: ["B","A"]');
  });

  it("says in no explanation what readers of a contract that it names do not see", () => {
    let claims = 0;
    fc.assert(
      fc.property(anyCatalog, fc.array(emission, { maxLength: 3 }), anyCatalog, (before, emits, another) => {
        let after = another;
        try {
          after = defineReasonCatalog({ ...before, emits });
        } catch {
          // Then against any other catalog.
        }
        for (const { kind, subject, explanation, contracts = [] } of compareCatalogs(before, after)) {
          const said = /shows (\w+) where it showed (\w+);/.exec(explanation);
          if (kind !== "emission-reason" || !said) continue;
          const [operation = "", cause = "", type] = subject.split("/");
          for (const contract of contracts) {
            const shown = (catalog: ReasonCatalog) =>
              publish(catalog, operation, cause, contract).find((each) => each.type === type)?.reason;
            expect([shown(after), shown(before)]).toEqual([said[1], said[2]]);
            claims++;
          }
          expect(explanation.endsWith(`(contract ${contracts.join(", ")})`)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
    expect(claims).toBeGreaterThan(30);
  });

  it("proposes a way out that is one: the change as proposed breaks nobody", () => {
    let tried = 0;
    fc.assert(
      fc.property(anyCatalog, anyCatalog, (before, after) => {
        for (const { kind, subject, remedies = [] } of compareCatalogs(before, after)) {
          const general = /add the new (terminal )?reason.*generalReasons: (\[.*?\])/.exec(remedies[1] ?? "");
          // Where a contract does not know the old reason itself, the text says that its readers see another one.
          if (!kind.startsWith("emission-") || !general || remedies[1]?.includes("does not know")) continue;
          const [operation, cause, type] = subject.split("/");
          const contract = before.contract + 1;
          const reason = "Finer";
          const emit = {
            operation,
            cause,
            type,
            reason,
            since: contract,
            generalReasons: JSON.parse(general[2] ?? ""),
          };
          const proposed = defineReasonCatalog({
            ...before,
            contract,
            reasons: {
              ...before.reasons,
              [reason]: {
                types: TYPES,
                class: general[1] ? "terminal" : "waiting",
                since: contract,
                summary: "s",
              },
            },
            emits: [...before.emits, emit],
          } as never);
          expect(compareCatalogs(before, proposed).filter(({ level }) => level === "breaking")).toEqual([]);
          tried++;
        }
      }),
      { numRuns: 500 },
    );
    expect(tried).toBeGreaterThan(50);
  });
});

describe("compareCatalogs, whatever is reworded", () => {
  const full = {
    name: "c",
    contract: 3,
    types: {
      Ready: { polarity: "positive", presence: "always", summary: "s" },
      Other: { polarity: "neutral", presence: "while-true", summary: "s" },
      Third: { polarity: "neutral", presence: "while-true", summary: "s" },
    },
    reasons: {
      A: {
        types: ["Ready", "Other"],
        class: "terminal",
        phases: ["Error", "Stopped"],
        since: 2,
        deprecatedIn: 2,
        replacedBy: "B",
        sources: [
          { backend: "docker", raw: ["dead", "gone"], versions: ">=1" },
          { backend: "podman", raw: ["lost"] },
        ],
        summary: "s",
        action: "a",
      },
      B: { types: ["Ready"], class: "terminal", refines: ["G"], summary: "s" },
      // Twice, because the emission needs one of them.
      D: { types: ["Other", "Third", "Other"], class: "terminal", summary: "s" },
      E: { types: ["Other", "Third"], class: "terminal", summary: "s" },
      F: { types: ["Ready", "Other", "Third"], class: "terminal", summary: "s" },
      G: { types: ["Ready"], class: "waiting", summary: "s" },
      H: { types: ["Other"], class: "waiting", summary: "s" },
    },
    emits: [{ operation: "o", cause: "c", type: "Other", reason: "D", generalReasons: ["H"], since: 2 }],
    retired: { Old: { retiredIn: 2, class: "terminal", replacedBy: "A" } },
  };
  /** Every leaf of the catalog, as a path. */
  const leaves = (value: unknown, path: string[] = []): string[][] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, part]) => leaves(part, [...path, key]))
      : [path];
  /** Values that a leaf may take instead; most are refused for most leaves. */
  const others = ["other", "F", "Other", "Third", "transient", "negative", "always", "once-reached", 1, 3, 4];
  const change = (catalog: object, path: readonly string[], value: unknown): ReasonCatalog | undefined => {
    const copy = structuredClone(catalog) as Record<string, unknown>;
    let at = copy;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
    const last = path.at(-1) ?? "";
    if (at[last] === value) return undefined;
    at[last] = value;
    try {
      return defineReasonCatalog(copy as never);
    } catch {
      return undefined;
    }
  };
  const before = defineReasonCatalog(full as never);
  const told = (catalog: ReasonCatalog) =>
    new Set(
      compareCatalogs(before, catalog).map((each) => `${each.kind} ${each.subject} ${each.explanation}`),
    );

  it.each(leaves(full).map((path) => [path.join("."), path] as const))(
    "reports another %s",
    (_name, path) => {
      const changed = others.flatMap((value) => change(full, path, value) ?? []);
      expect(changed.length).toBeGreaterThan(0);
      for (const after of changed) expect(told(after).size).toBeGreaterThan(0);
    },
  );

  it.each<[string, string, unknown]>([
    ["a word moved", "reasons.A.sources.0.raw.1", "elsewhere"],
    ["a backend renamed", "reasons.A.sources.1.backend", "other"],
    ["a type reworded", "types.Other.summary", "other"],
  ])("reports it also beside another difference: %s", (_name, where, value) => {
    const beside = where.split(".");
    const already = change(full, beside, value) as ReasonCatalog;
    for (const path of leaves(full)) {
      if (path.join(".") === where) continue;
      for (const after of others.flatMap((each) => change(already, path, each) ?? [])) {
        const grown = [...told(after)].filter((each) => !told(already).has(each));
        expect([path.join("."), grown.length > 0]).toEqual([path.join("."), true]);
      }
    }
  });
});

describe("comparing large catalogs", () => {
  /** How often any table was gone through, and any emission read, for so many reasons. */
  function readsFor(count: number, shift: number): number {
    let reads = 0;
    const counted = <T extends object>(table: T): T =>
      new Proxy(table, {
        ownKeys: (target) => {
          reads += Object.keys(target).length;
          return Reflect.ownKeys(target);
        },
        get: (target, key, self) => {
          reads += 1;
          return Reflect.get(target, key, self) as unknown;
        },
      });
    const catalogOf = (moved: number, prefix: string): ReasonCatalog => ({
      name: "many",
      contract: 1,
      types: { Ready: { polarity: "positive", presence: "always", summary: "It can be used." } },
      reasons: counted(
        Object.fromEntries(
          Array.from({ length: count }, (_, at) => [
            `${prefix}${at}`,
            {
              types: ["Ready"],
              class: "transient" as const,
              summary: "One of many.",
              sources: [{ backend: "docker", raw: [`Word${(at + moved) % count}`] }],
            },
          ]),
        ),
      ),
      retired: counted(
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`Gone${at}`, { retiredIn: 1 }])),
      ),
      emits: counted(
        Array.from({ length: count }, (_, at) => ({
          operation: "op",
          cause: `cause-${at}`,
          type: "Ready",
          reason: `${prefix}${at}`,
        })),
      ),
    });
    compareCatalogs(catalogOf(0, "Reason"), catalogOf(shift, shift === 0 ? "New" : "Reason"));
    return reads;
  }

  it.each([
    ["every word moved", 1],
    ["every reason is another", 0],
  ])("goes through neither once for each of their reasons: %s", (_, shift) => {
    const [few, many] = [readsFor(50, shift), readsFor(200, shift)];
    expect(many / few).toBeLessThan(5);
  });
});
