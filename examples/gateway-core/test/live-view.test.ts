import { describe, expect, it } from "vitest";
import type { SandboxView } from "../src/http/view.js";
import type { SandboxRecord } from "../src/record/record.js";
import { LiveView } from "../src/terminal/live-view.js";
import { viewAt } from "./page-views.js";
import { recordWith, NOW } from "./records.js";
import { imageReport, recordAfter, type Said } from "./step-reports.js";

/** The attempts of these records began then. */
const START = NOW - 60_000;

function show(
  isTTY: boolean,
  columns: number,
  ...views: readonly (readonly [number, SandboxView])[]
): string {
  let text = "";
  let now = START;
  const live = new LiveView({ isTTY, columns, write: (part) => (text += part) }, () => now);
  for (const [at, view] of views) {
    now = at;
    live.show(view);
  }
  live.end();
  return text;
}

const at = (ms: number, record: SandboxRecord): [number, SandboxView] => [
  START + ms,
  viewAt(record, START + ms),
];
const moved: readonly Said[] = [
  [START + 1000, imageReport(0, { total: 624_800_000 })],
  [START + 3000, imageReport(312_400_000, { total: 624_800_000 })],
];
const done: Said = [START + 5200, imageReport(624_800_000, { done: true })];

describe("the live view", () => {
  it("names the image first, and writes plain lines with a time where there is no terminal, one for each change", () => {
    const running = at(3000, recordAfter(...moved));
    const ended = at(5200, recordAfter(...moved, done));
    expect(show(false, 80, at(0, recordWith()), running, running, ended, ended).split("\n")).toEqual([
      "[0.0s] box: image image, driver fake, attempt 1",
      "[0.0s] Provisioning/Preparation: preparation is under way",
      "[3.0s] … Copying image (image, 312.4 MB of 624.8 MB, 50 %, 156.2 MB/s) (2.0s)",
      "[5.2s] ✓ Image copied (image, 624.8 MB) (4.2s)",
      "",
    ]);
  });

  it("says without a terminal how far a step has come, now and then", () => {
    const late = (ms: number): [number, SandboxView] => [
      START + ms,
      viewAt(recordAfter(...moved), START + 3000),
    ];
    const lines = show(false, 80, late(3000), late(20_000), late(33_000), late(40_000)).split("\n");
    expect(lines.slice(1)).toEqual([
      "[3.0s] … Copying image (image, 312.4 MB of 624.8 MB, 50 %, 156.2 MB/s) (2.0s)",
      "[3.0s] Provisioning/Preparation: preparation is under way",
      "[33.0s] … Copying image (image, 312.4 MB of 624.8 MB, 50 %, silent for 30.0s) (32.0s)",
      "",
    ]);
  });

  it("draws one line anew on a terminal, cut to its width, and erases it at the end", () => {
    const lines = show(true, 30, at(3000, recordAfter(...moved))).split("\n");
    expect(lines[0]).toBe("box: image image, driver fake, attempt 1");
    expect(lines.at(-1)).toBe("… Copying image (image, 312.…\r\u001b[2K");
    // What is drawn wide takes two columns, and a terminal that does not know its width says 0.
    const wide: Said = [START + 1000, imageReport(1, { step: "disk", activeLabel: "準備中".repeat(20) })];
    const drawn = (columns: number): string =>
      show(true, columns, at(1000, recordAfter(wide)))
        .split("\n")
        .at(-1)!;
    expect(drawn(30)).toBe(`… ${"準備中".repeat(5).slice(0, 13)}…\r\u001b[2K`);
    expect(drawn(0)).toBe(drawn(80));
  });

  it("lets nothing that comes from inside a sandbox command the terminal", () => {
    const message = "lost: \u001b]52;c;ZXZpbA==\u0007\u001b[2J\r\nsecond line\tof it \u202egnp.exe";
    const shown = show(true, 80, at(0, { ...recordWith(), phase: "Error", message, reason: "Odd\u001b[1m" }));
    expect(shown.split("\n").slice(1)).toEqual([
      "Error/Odd?[1m: lost: ?]52;c;ZXZpbA==??[2J",
      "second line of it ?gnp.exe",
      "",
    ]);
  });

  it("lets no name of an image or of a step command the terminal, in a step that goes on and in one that is done", () => {
    const subject = "i\u001b[2J\u202emage\n\u009b1mnext";
    const record = recordAfter([START + 1000, { ...imageReport(5), step: "export", subject }]);
    const over = recordAfter(
      [START + 1000, { ...imageReport(5), step: "export", subject }],
      [START + 2000, { ...imageReport(9, { done: true }), step: "export", subject }],
    );
    for (const isTTY of [true, false]) {
      const shown = show(isTTY, 200, at(1500, record), at(2500, over));
      expect(shown).toContain("i?[2J?mage ?1mnext");
      expect(shown.replaceAll("\r\u001b[2K", "")).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u);
    }
  });

  it("prints what a later run of the driver's work does anew, and nothing twice", () => {
    const supervisor = { step: "supervisor", label: "Supervisor started", unit: "none", done: true } as const;
    const first: readonly Said[] = [...moved, done, [START + 6000, { ...supervisor, subject: "pid 7" }]];
    const again: Said = [START + 9000, { ...supervisor, subject: "pid 9" }, 2];
    const one = at(6000, recordAfter(...first));
    const two = at(9000, recordAfter(...first, again));
    expect(show(false, 80, one, two, two).split("\n").slice(1)).toEqual([
      "[6.0s] ✓ Image copied (image, 624.8 MB) (4.2s)",
      "[6.0s] ✓ Supervisor started (pid 7) (0.0s)",
      "[6.0s] Provisioning/Preparation: preparation is under way",
      "[9.0s] The driver's work begins again (the deadline does not)",
      "[9.0s] ✓ Supervisor started (pid 9) (0.0s)",
      "",
    ]);
  });

  it("of an end shows no work, tells the time since it was asked for, and says that it is gone", () => {
    const served = recordAfter(...moved, done);
    const ending = (reason: string) => viewAt({ ...served, phase: "Deleting", reason, message: "" }, NOW);
    for (const isTTY of [true, false]) {
      let text = "";
      let now = NOW;
      const live = new LiveView({ isTTY, columns: 80, write: (part) => (text += part) }, () => now, "phase");
      live.show(ending("DeleteRequested"));
      now += 700;
      live.show({ ...ending("Cleanup"), attempt: 2, run: 3 });
      now += 700;
      live.gone("box");
      live.end();
      const times = isTTY ? ["", "", ""] : ["[0.0s] ", "[0.7s] ", "[1.4s] "];
      expect(text.split("\n")).toEqual([
        `${times[0]}Deleting/DeleteRequested`,
        `${times[1]}Deleting/Cleanup`,
        `${times[2]}box is gone`,
        "",
      ]);
    }
  });

  it("of an attempt that is over draws no step under way", () => {
    const over = recordAfter(...moved, [START + 30_000, imageReport(400_000_000)]);
    expect(over.phase).toBe("Error");
    const text = show(true, 80, at(30_000, over));
    expect(text).not.toContain("Copying");
    expect(text).toContain("last progress in image at 312400000");
  });
});
