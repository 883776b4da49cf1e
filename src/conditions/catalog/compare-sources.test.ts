import { describe, it } from "vitest";
import { A, B, base, entry, expectDifference, next } from "../../../test/conditions/compared-catalogs.js";

describe("compareCatalogs, kind by kind", () => {
  it.each<[string, object, object, string]>([
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
      "a word gone with the retired reason whose name it is in another letter case",
      {
        ...base,
        reasons: { ...base.reasons, Old: { ...entry, sources: [{ backend: "podman", raw: ["old"] }] } },
      },
      { ...next, retired: { Old: { retiredIn: 2, class: "terminal" } } },
      "breaking source-changed",
    ],
    [
      "such a word that the reason takes over which replaces the retired one",
      {
        ...base,
        reasons: { ...base.reasons, Old: { ...entry, sources: [{ backend: "podman", raw: ["old"] }] } },
        emits: [{ ...base.emits[0], reason: "Old" }],
      },
      {
        ...next,
        reasons: {
          ...base.reasons,
          New: { ...entry, since: 2, sources: [{ backend: "podman", raw: ["old"] }] },
        },
        emits: [{ ...base.emits[0], reason: "New", generalReasons: ["Old"], since: 2 }],
        retired: { Old: { retiredIn: 2, class: "terminal", replacedBy: "New" } },
      },
      "additive source-replaced",
    ],
    [
      "a name whose other spelling was a backend's word",
      base,
      { ...base, reasons: { A, B, DEAD: entry } },
      "breaking source-changed",
    ],
  ])("judges %s", (_name, before, after, expected) => {
    expectDifference(before, after, expected);
  });
});
