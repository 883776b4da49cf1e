import { describe, expect, it } from "vitest";
import { StepPrinter, StepTracker } from "../../src/progress/index.js";
import { VirtualClock } from "../../src/testing/index.js";

const IMAGE = "local-big:1";

/** The log of the report: what the driver said, and when. The export's bytes are what it did not say. */
function play(output: { write(text: string): unknown; isTTY?: boolean }): void {
  const clock = new VirtualClock();
  const startedAt = clock.now();
  const at = (ms: number): void => clock.advance(startedAt + ms - clock.now());
  const tracker = new StepTracker(
    [
      {
        step: "export",
        label: "Image exported from local Docker",
        activeLabel: "Exporting image",
        subject: IMAGE,
      },
      { step: "format", label: "Root disk formatted", activeLabel: "Formatting root disk", subject: IMAGE },
      { step: "rootfs", label: "Root disk prepared", activeLabel: "Preparing root disk", subject: IMAGE },
      {
        step: "supervisor",
        label: "VM supervisor ready",
        activeLabel: "Waiting for VM supervisor",
        subject: "dev",
      },
    ],
    { clock },
  );
  const printer = new StepPrinter(tracker, output, { clock });
  at(600);
  tracker.finish("export", "bootstrap:1");
  tracker.report("export", IMAGE, 0);
  for (let second = 1; second <= 90; second += 1) {
    at(600 + second * 1000);
    tracker.report("export", IMAGE, second * 89_885_834);
  }
  at(90_800);
  tracker.start("format", IMAGE);
  at(165_800);
  tracker.start("rootfs", IMAGE);
  at(227_100);
  tracker.start("supervisor", "dev");
  at(230_000);
  tracker.finish("supervisor", "dev");
  printer[Symbol.dispose]();
}

describe("seed 001: progress names the image that was asked for, and moves", () => {
  it("without a terminal, line by line", () => {
    const lines: string[] = [];
    play({ write: (text) => lines.push(text.trimEnd()) });
    expect(lines.filter((line) => line.includes("✓") || line.includes("bootstrap"))).toEqual([
      "[90.8s] ✓ Image exported from local Docker (local-big:1, 8.1 GB) (1m30s)",
      "[165.8s] ✓ Root disk formatted (local-big:1) (1m15s)",
      "[227.1s] ✓ Root disk prepared (local-big:1) (1m01s)",
      "[230.0s] ✓ VM supervisor ready (dev) (2.9s)",
    ]);
    expect(lines.slice(0, 3)).toEqual([
      "[0.6s] … Exporting image (local-big:1, 0 B) (0.0s)",
      "[30.6s] … Exporting image (local-big:1, 2.7 GB, 89.9 MB/s) (30.0s)",
      "[60.6s] … Exporting image (local-big:1, 5.4 GB, 89.9 MB/s) (1m00s)",
    ]);
    expect(lines.some((line) => line.includes("Formatting root disk (local-big:1, silent for"))).toBe(true);
  });

  it("on a terminal, one line that moves and one for each finished step", () => {
    let written = "";
    play({ isTTY: true, write: (text) => (written += text) });
    const kept = written.split("\n").map((line) => line.slice(line.lastIndexOf("✓")));
    expect(kept.filter((line) => line.startsWith("✓"))).toEqual([
      "✓ Image exported from local Docker (local-big:1, 8.1 GB) (1m30s)",
      "✓ Root disk formatted (local-big:1) (1m15s)",
      "✓ Root disk prepared (local-big:1) (1m01s)",
      "✓ VM supervisor ready (dev) (2.9s)",
    ]);
    expect(written).toContain("… Exporting image (local-big:1, 4 GB, 89.9 MB/s) (45.0s)");
  });
});
