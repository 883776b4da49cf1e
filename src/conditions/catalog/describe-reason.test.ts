import { describe, expect, it } from "vitest";
import { define, entry } from "../../../test/conditions/small-catalog.js";
import { describeReason, type ReasonCatalog } from "../index.js";

describe("describeReason", () => {
  it("says what became of a word that is no reason any more, or never was one", () => {
    const list = define({ retired: { Old: { retiredIn: 2 } } });
    expect(describeReason("Old", { catalog: list })).toEqual({
      reason: "Old",
      found: "retired",
      name: undefined,
      class: "terminal",
      summary: "Retired in contract 2.",
    });
    expect(describeReason("New", { catalog: list })).toEqual({
      reason: "New",
      found: "unknown",
      summary: "Not in the catalog test.",
    });
  });

  const catalog: ReasonCatalog = define({
    reasons: {
      A: { ...entry, sources: [{ backend: "docker", raw: ["exited"] }] },
      B: { ...entry, sources: [{ backend: "podman", raw: ["exited"] }] },
    },
    retired: { Old: { retiredIn: 2, replacedBy: "B" } },
  });

  it.each([
    ["A", undefined, { found: "reason", name: "A", summary: "A sentence." }],
    ["a", undefined, { found: "reason", name: "A" }],
    ["EXITED", undefined, { found: "raw", name: "A" }],
    ["exited", "podman", { found: "raw", name: "B" }],
    ["exited", "qemu", { found: "unknown" }],
    ["old", undefined, { found: "retired", name: "B" }],
    ["constructor", undefined, { found: "unknown" }],
    ["__proto__", undefined, { found: "unknown" }],
    ["", undefined, { found: "unknown" }],
  ])("describes %j of %s", (reason, backend, expected) => {
    expect(describeReason(reason, { catalog, backend })).toMatchObject({ reason, ...expected });
  });

  it("says of a retired reason what it said, and all of the one that replaced it", () => {
    const list = define({
      contract: 3,
      reasons: { New: { ...entry, class: "terminal", since: 3 } },
      retired: { Old: { retiredIn: 3, class: "transient", replacedBy: "New" } },
    });
    for (const word of ["Old", "OLD"])
      expect(describeReason(word, { catalog: list })).toEqual({
        reason: word,
        found: "retired",
        name: "New",
        class: "transient",
        summary: "Retired in contract 3.",
        entry: (list as ReasonCatalog).reasons["New"],
      });
    expect(describeReason("New", { catalog: list })).toMatchObject({ found: "reason", class: "terminal" });
  });

  it.each<unknown>([undefined, null, 7, true, {}, ["A"], { toString: 1 }])(
    "knows no word that is %j",
    (word) => {
      for (const backend of [undefined, "docker"])
        expect(describeReason(word as string, { catalog, backend })).toEqual({
          reason: "",
          found: "unknown",
          summary: "Not in the catalog test.",
        });
    },
  );
});
