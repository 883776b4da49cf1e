import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import fc from "fast-check";
import { fitLine } from "./fit-line.js";
import { formatStep, type StepLine } from "./format-step.js";
import { formatDuration, formatSize } from "./quantity.js";
import { NOTHING_PRINTED, stepLines } from "./step-lines.js";
import { StepPrinter } from "./step-printer.js";
import { StepTracker } from "./step-tracker.js";

const exported: StepLine = {
  label: "Image exported from local Docker",
  subject: "local-big:1",
  unit: "bytes",
  position: 4_900_000_000,
  elapsedMs: 182_000,
  finished: true,
};

describe("formatStep without everything", () => {
  it.each<[string, Partial<StepLine>, string]>([
    ["no subject", { subject: undefined }, "(4.9 GB) "],
    ["a subject that is null", { subject: null }, "(4.9 GB) "],
    ["neither subject nor position", { subject: "", position: undefined }, ""],
    ["a unit that is null", { unit: null as never }, "(local-big:1, 4.9 GB) "],
    ["a unit without a name", { unit: "", position: 7 }, "(local-big:1, 7) "],
  ])("leaves out %s", (_what, without, facts) => {
    expect(formatStep({ ...exported, ...without })).toBe(
      `✓ Image exported from local Docker ${facts}(3m02s)`,
    );
  });

  it("shows whole per cent exactly", () => {
    for (let percent = 0; percent < 100; percent += 1) {
      const line = formatStep({ ...exported, position: percent, total: 100, finished: false });
      expect(line).toContain(` ${percent} %)`);
    }
  });
});

describe("formatSize", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [1536, "1.5 kB"],
    [104_857_600, "104.9 MB"],
    [512_000_000, "512 MB"],
    [999_949_999, "999.9 MB"],
    [999_950_000, "1 GB"],
    [4_900_000_000, "4.9 GB"],
    [8_089_725_051, "8.1 GB"],
    [9_007_199_254_740_991, "9 PB"],
    [1e24, "1 YB"],
  ])("%d is %s", (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])("does not make a size of %d", (bytes) => {
    expect(formatSize(bytes)).toBe("?");
    expect(formatDuration(Number.NaN)).toBe("?");
  });

  it("survives the largest number", () => {
    expect(formatSize(Number.MAX_VALUE)).toMatch(/^1\.79\d+e\+284 YB$/);
  });
});

describe("formatDuration", () => {
  it.each([
    [-5, "0.0s"],
    [0, "0.0s"],
    [600, "0.6s"],
    [59_949, "59.9s"],
    [59_950, "1m00s"],
    [91_000, "1m31s"],
    [182_000, "3m02s"],
    [3_599_600, "1h00m"],
    [3_840_000, "1h04m"],
    [90_000_000, "25h00m"],
  ])("%d ms are %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("formatStep", () => {
  it("of a finished step says what, how large and how long", () => {
    expect(formatStep(exported)).toBe("✓ Image exported from local Docker (local-big:1, 4.9 GB) (3m02s)");
    expect(formatStep({ ...exported, total: 5_000_000_000 })).toBe(
      "✓ Image exported from local Docker (local-big:1, 4.9 GB) (3m02s)",
    );
  });

  it("leaves out what there is not: a size that nobody counted, a subject that is empty", () => {
    const disk = {
      label: "Root disk prepared",
      subject: "",
      unit: "bytes",
      elapsedMs: 91_000,
      finished: true,
    };
    expect(formatStep(disk)).toBe("✓ Root disk prepared (1m31s)");
    expect(formatStep({ ...disk, subject: "local-big:1", position: null })).toBe(
      "✓ Root disk prepared (local-big:1) (1m31s)",
    );
  });

  it("of a step under way says how much, of how much, how fast and since when", () => {
    const running = { ...exported, finished: false, activeLabel: "Exporting image", elapsedMs: 45_500 };
    expect(formatStep(running)).toBe("… Exporting image (local-big:1, 4.9 GB) (45.5s)");
    expect(formatStep({ ...running, total: 9_800_000_000, perSecond: 107_700_000 })).toBe(
      "… Exporting image (local-big:1, 4.9 GB of 9.8 GB, 50 %, 107.7 MB/s) (45.5s)",
    );
    expect(formatStep({ ...running, quietMs: 42_000 })).toBe(
      "… Exporting image (local-big:1, 4.9 GB, silent for 42.0s) (45.5s)",
    );
    expect(formatStep({ ...running, position: undefined, total: 100 })).toBe(
      "… Exporting image (local-big:1) (45.5s)",
    );
  });

  it("never shows 100 per cent, or a total that was passed, while a step is under way", () => {
    const running = { ...exported, finished: false, position: 8_300_000_000 };
    expect(formatStep({ ...running, total: 8_089_725_051, percent: 100 })).toContain(
      "(local-big:1, 8.3 GB, 99 %)",
    );
    expect(formatStep({ ...running, position: 100, total: 100 })).toContain("100 B of 100 B, 99 %");
    expect(formatStep({ ...running, total: 0 })).not.toContain("%");
    expect(formatStep({ ...running, total: 9e9, percent: null })).not.toContain("%");
    expect(formatStep({ ...running, position: Number.NaN, total: 5 })).toContain("(local-big:1)");
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -5])("shows no percentage of %d", (percent) => {
    expect(formatStep({ ...exported, finished: false, percent })).not.toContain("%");
  });

  it("names another unit as it is called", () => {
    expect(formatStep({ ...exported, unit: "layers", position: 12 })).toContain("(local-big:1, 12 layers)");
    expect(formatStep({ ...exported, unit: undefined })).toContain("4.9 GB");
    expect(formatStep({ ...exported, unit: "%", position: 45, total: 100, finished: false })).toContain(
      "(local-big:1, 45 % of 100 %)",
    );
  });

  it("lets no name command the terminal", () => {
    const line = formatStep({ ...exported, subject: "evil\u001b[2J\r\n\u202ename", label: "La\u0007bel" });
    expect(line).toBe("✓ La?bel (evil?[2J???name, 4.9 GB) (3m02s)");
  });
});

describe("a line that fits a terminal", () => {
  it.each([
    ["short", 80, "short"],
    ["exactly", 8, "exactly"],
    ["exactly", 7, "exact…"],
    ["箱箱箱箱", 9, "箱箱箱箱"],
    ["箱箱箱箱", 8, "箱箱箱…"],
    ["箱箱箱箱", 7, "箱箱…"],
    ["箱箱箱箱", 6, "箱箱…"],
    ["箱箱箱箱", 3, "…"],
    ["a📦b📦c", 8, "a📦b📦c"],
    ["a📦b📦c", 6, "a📦b…"],
    ["한국어", 4, "한…"],
    ["ｆｕｌｌ", 4, "ｆ…"],
    ["✓ done", 4, "✓…"],
    ["text", 1, "…"],
    ["text", -1, "…"],
  ])("%s in %d columns is %s", (line, columns, fitted) => {
    expect(fitLine(line, columns)).toBe(fitted);
  });

  it.each([Number.NaN, undefined, 0])("takes %o for a terminal of 80 columns", (columns) => {
    const line = "x".repeat(200);
    expect(fitLine(line, columns as number)).toBe(`${"x".repeat(78)}…`);
    expect(fitLine("short", columns as number)).toBe("short");
    expect(fitLine(line, Number.POSITIVE_INFINITY)).toBe(line);
  });

  it.each([
    ["a\tb", "a?b"],
    ["a\r\nb", "a??b"],
    ["\u001b[1;31mred\u001b[0m", "?[1;31mred?[0m"],
    ["\u0000\u0007\u007f\u009b", "????"],
  ])("draws no more columns than it counts, and commands no terminal: %j", (line, drawn) => {
    expect(fitLine(line, 40)).toBe(drawn);
    for (let columns = 0; columns < 40; columns += 1) {
      const fitted = fitLine(line, columns);
      expect(fitted.length).toBeLessThan(Math.max(columns || 80, 2));
      expect(fitted).not.toMatch(/\p{Cc}/u);
    }
  });

  it("leaves a column free whatever is in it, begins as the line does, and is the line where that fits", () => {
    const wide =
      /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;
    const columnsOf = (text: string): number =>
      Array.from(text).reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
    const piece = fc.constantFrom("a", "é", "é", "箱", "한", "ひ", "Ｘ", "📦", "✅", "…", " ", "𠀀", "👩‍💻");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 2, max: 60 }), (pieces, columns) => {
        const line = pieces.join("");
        const fitted = fitLine(line, columns);
        expect(columnsOf(fitted)).toBeLessThan(columns);
        expect(fitted === line || (fitted.endsWith("…") && line.startsWith(fitted.slice(0, -1)))).toBe(true);
        // No half of a pair, which this refuses.
        expect(() => encodeURIComponent(fitted)).not.toThrow();
      }),
    );
  });
});

describe("lines", () => {
  const steps = [
    { step: "export", label: "Image exported", activeLabel: "Exporting image", subject: "local-big:1" },
    { step: "disk", label: "Root disk prepared", subject: "local-big:1" },
  ];

  it("without a terminal are timestamped: a step's beginning, now and then how far it is, and its end", () => {
    const clock = new VirtualClock();
    const tracker = new StepTracker(steps, { clock });
    const startedAt = clock.now();
    let printed = NOTHING_PRINTED;
    const lines: string[] = [];
    const print = (): void => {
      const made = stepLines(tracker.readings(), printed, {
        terminal: false,
        elapsedMs: clock.now() - startedAt,
      });
      expect(made.live).toBe(null);
      printed = JSON.parse(JSON.stringify(made.printed)) as typeof printed;
      lines.push(...made.lines);
    };
    clock.advance(600);
    tracker.start("export", "local-big:1");
    print();
    print();
    clock.advance(30_000);
    tracker.report("export", "local-big:1", 1_400_000_000);
    print();
    clock.advance(1000);
    print();
    clock.advance(59_200);
    tracker.report("export", "local-big:1", 4_900_000_000);
    tracker.start("disk", "local-big:1");
    print();
    expect(lines).toEqual([
      "[0.6s] … Exporting image (local-big:1) (0.0s)",
      "[30.6s] … Exporting image (local-big:1, 1.4 GB, 46.7 MB/s) (30.0s)",
      "[90.8s] ✓ Image exported (local-big:1, 4.9 GB) (1m30s)",
      "[90.8s] … Root disk prepared (local-big:1) (0.0s)",
    ]);
  });

  it("on a terminal are one for each finished step and one that is drawn anew", () => {
    const clock = new VirtualClock();
    const tracker = new StepTracker(steps, { clock });
    const written: string[] = [];
    const output = { isTTY: true, columns: 44, write: (text: string) => written.push(text) };
    const printer = new StepPrinter(tracker, output, { clock });
    tracker.report("export", "local-big:1", 1_400_000_000, 4_900_000_000);
    clock.advance(1000);
    expect(written.at(-1)).toBe("… Exporting image (local-big:1, 1.4 GB of …");
    expect(written.at(-1)).toHaveLength(43);
    tracker.finish("export", "local-big:1");
    expect(written.join("")).toContain("\r\u001b[2K✓ Image exported (local-big:1, 1.4 GB) (1.0s)\n");
    tracker.start("disk", "local-big:1");
    printer[Symbol.dispose]();
    printer[Symbol.dispose]();
    expect(written.at(-1)).toBe("\r\u001b[2K");
    const count = written.length;
    tracker.finish("disk", "local-big:1");
    clock.advance(10_000);
    expect(written).toHaveLength(count);
  });

  it("take a terminal that does not know how wide it is for one of 80 columns", () => {
    const tracker = new StepTracker([{ step: "export", label: "L".repeat(200), subject: "" }], {
      clock: new VirtualClock(),
    });
    const written: string[] = [];
    const output = { isTTY: true, columns: 0, write: (text: string) => written.push(text) };
    const printer = new StepPrinter(tracker, output);
    tracker.start("export", "");
    expect(written.at(-1)).toHaveLength(79);
    printer[Symbol.dispose]();
  });

  it("show the step that was heard of last where several are under way", () => {
    const clock = new VirtualClock();
    const tracker = new StepTracker(steps, { clock });
    tracker.start("disk", "local-big:1");
    clock.advance(5);
    tracker.start("export", "local-big:1");
    const made = stepLines(tracker.readings(), NOTHING_PRINTED, { terminal: true, elapsedMs: 5 });
    expect(made).toMatchObject({ lines: [], live: "… Exporting image (local-big:1) (0.0s)" });
  });
});
