import { describe, expect, it } from "vitest";
import { compareCatalogs, defineReasonCatalog, type ReasonCatalog } from "../index.js";

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
