import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contrast, parsePalettes } from "./palette.js";

const FOLDER = new URL("../src/page/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");
const palettes = parsePalettes(read("palette.css"));
const TONES = ["good", "busy", "bad", "idle", "unsure"];

/** What is read, and on what: 4.5:1 at least (WCAG 2.2, 1.4.3). */
const TEXT: [string, string][] = [
  ...["text", "quiet", "accent", "bad"].flatMap((text): [string, string][] => [
    [text, "ground"],
    [text, "surface"],
    [text, "chosen"],
  ]),
  ["on-accent", "accent"],
  ...TONES.map((tone): [string, string] => [tone, `${tone}-ground`]),
];

/** What has to be made out, and beside what: 3:1 at least (1.4.11). */
const SHAPES: [string, string][] = [
  ...["frame", "focus", "accent"].flatMap((shape): [string, string][] => [
    [shape, "ground"],
    [shape, "surface"],
  ]),
  ["focus", "chosen"],
  ["accent", "chosen"],
  ["fill", "track"],
  ["fill-limits", "track"],
  ["mark", "halo"],
];

for (const [scheme, palette] of Object.entries(palettes)) {
  describe(`the ${scheme} palette`, () => {
    for (const [front, back] of TEXT) {
      it(`has ${front} on ${back} for reading`, () => {
        expect(contrast(palette, front, back)).toBeGreaterThanOrEqual(4.5);
      });
    }
    for (const [front, back] of SHAPES) {
      it(`has ${front} against ${back} for making out`, () => {
        expect(contrast(palette, front, back)).toBeGreaterThanOrEqual(3);
      });
    }
  });
}

describe("the style sheets", () => {
  const sheets = readdirSync(FOLDER).filter((name) => name.endsWith(".css") && name !== "palette.css");

  it("have one set of names in light and dark", () => {
    expect(Object.keys(palettes.dark).sort()).toEqual(Object.keys(palettes.light).sort());
  });

  for (const sheet of sheets) {
    it(`${sheet} has no colour of its own`, () => {
      const system = /Highlight|CanvasText/g;
      const rules = read(sheet)
        .replace(/\/\*.*?\*\//gs, "")
        .replace(system, "");
      expect(rules).not.toMatch(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|color-mix)a?\(/i);
      for (const [, name] of rules.matchAll(/var\(--([\w-]+)/g))
        expect(palettes.light).toHaveProperty([name ?? ""]);
    });
  }
});

it("contrast is that of the standard", () => {
  const palette = { black: "#000000", white: "#ffffff", grey: "#777777" };
  expect(contrast(palette, "black", "white")).toBeCloseTo(21, 5);
  expect(contrast(palette, "grey", "white")).toBeCloseTo(4.48, 2);
  expect(contrast(palette, "white", "white")).toBe(1);
});
