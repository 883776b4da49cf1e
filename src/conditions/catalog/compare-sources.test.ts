import { describe, it } from "vitest";
import { A, B, base, entry, expectDifference } from "../../../test/conditions/compared-catalogs.js";

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
      "a name whose other spelling was a backend's word",
      base,
      { ...base, reasons: { A, B, DEAD: entry } },
      "breaking source-changed",
    ],
  ])("judges %s", (_name, before, after, expected) => {
    expectDifference(before, after, expected);
  });
});
