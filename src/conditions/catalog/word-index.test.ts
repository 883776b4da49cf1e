import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sandboxReasons } from "../sandbox/sandbox-reasons.js";
import { findByName } from "./catalog-lookup.js";
import { describeReason } from "./describe-reason.js";
import type { ReasonCatalog, ReasonEntry } from "./reason-catalog.js";
import { WordIndex } from "./word-index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

/** Few words, so that names, retired names and the words of several backends meet in every letter case. */
const word = fc.constantFrom(
  "Ab",
  "ab",
  "AB",
  "aB",
  "Cd",
  "cd",
  "e",
  "E",
  "İ",
  "__proto__",
  "constructor",
  "",
);
const backend = fc.constantFrom("docker", "podman", "a", "");
const entry = fc.record({
  types: fc.constant(["Ready"]),
  class: fc.constant("terminal" as const),
  summary: fc.constant("One of many."),
  sources: fc.array(fc.record({ backend, raw: fc.array(word, { maxLength: 3 }) }), { maxLength: 3 }),
});
const retired = fc.record({ retiredIn: fc.constant(2), replacedBy: fc.option(word, { nil: undefined }) });
const catalog: fc.Arbitrary<ReasonCatalog> = fc
  .record({
    reasons: fc.array(fc.tuple(word, entry), { maxLength: 6 }),
    retired: fc.option(fc.array(fc.tuple(word, retired), { maxLength: 3 }), { nil: undefined }),
  })
  .map((drawn) => ({
    name: "drawn",
    contract: 2,
    types: {},
    reasons: Object.fromEntries(drawn.reasons),
    ...(drawn.retired && { retired: Object.fromEntries(drawn.retired) }),
    emits: [],
  }));

function answers(list: ReasonCatalog, asked: string, backends: readonly (string | undefined)[]): unknown {
  return backends.map((of) => {
    const { found, name } = describeReason(asked, { catalog: list, backend: of });
    return { found, name };
  });
}

describe("an index of words", () => {
  it("answers as whoever goes through the catalog", () => {
    fc.assert(
      fc.property(catalog, word, (list, asked) => {
        const index = new WordIndex(list);
        const backends = [undefined, "docker", "podman", "a", "", "other"];
        expect(backends.map((of) => index.meaningOf(asked, of))).toEqual(answers(list, asked, backends));
        expect(index.nameOf(asked)).toBe(findByName(list.reasons, asked)?.[0]);
        expect(index.retiredNameOf(asked)).toBe(findByName(list.retired, asked)?.[0]);
      }),
      { numRuns: 3000 },
    );
  });

  it("answers so for every word of the built-in catalog, in three letter cases", () => {
    const index = new WordIndex(sandboxReasons);
    const reasons: Record<string, ReasonEntry> = sandboxReasons.reasons;
    const sources = Object.values(reasons).flatMap((each) => each.sources ?? []);
    const backends = [undefined, ...new Set(sources.map((source) => source.backend))];
    for (const each of [...Object.keys(reasons), ...sources.flatMap(({ raw }) => raw)])
      for (const asked of [each, each.toLowerCase(), each.toUpperCase()])
        expect(backends.map((of) => index.meaningOf(asked, of))).toEqual(
          answers(sandboxReasons, asked, backends),
        );
  });
});
