import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCatalog, emission, publish, TYPES } from "../../../test/conditions/any-catalog.js";
import { base, entry } from "../../../test/conditions/compared-catalogs.js";
import {
  compareCatalogs,
  defineReasonCatalog,
  describeReason,
  matchesReason,
  type ReasonCatalog,
  sandboxReasons,
} from "../index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

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
