import { describe, expect, it } from "vitest";
import type { SandboxView } from "../src/http/view.js";
import type { StepView } from "../src/record/record.js";
import { formatFinished, formatRunning } from "../src/terminal/format.js";
import { LiveView } from "../src/terminal/live-view.js";

const STEP: StepView = {
  step: "image",
  label: "Image copied",
  subject: "node-v20",
  unit: "bytes",
  position: 312_400_000,
  total: 624_800_000,
  startedAt: 1000,
  updatedAt: 3000,
  finishedAt: null,
};

describe("text for people", () => {
  it("names subject, size and time of a finished step", () => {
    expect(formatFinished({ ...STEP, finishedAt: 5200 })).toBe("✓ Image copied (node-v20, 312.4 MB) (4.2s)");
    const supervisor = {
      ...STEP,
      label: "Supervisor started",
      subject: "pid 7",
      unit: "none" as const,
      finishedAt: 1000,
    };
    expect(formatFinished(supervisor)).toBe("✓ Supervisor started (pid 7) (0.0s)");
  });

  it("gives a percentage only when the total is known, and never 100 before the end", () => {
    expect(formatRunning(STEP, 3000)).toBe(
      "… Image being copied (node-v20, 312.4 MB of 624.8 MB, 50 %, 156.2 MB/s) (2.0s)",
    );
    expect(formatRunning({ ...STEP, total: null }, 3000)).not.toContain("%");
    expect(formatRunning({ ...STEP, position: STEP.total }, 3000)).toContain("99 %");
    expect(formatRunning({ ...STEP, position: 29, total: 100 }, 3000)).toContain(" 29 %");
  });
});

describe("the live view", () => {
  const view = (fields: object): SandboxView =>
    ({
      attempt: 1,
      run: 1,
      phase: "Provisioning",
      reason: "Preparation",
      message: "",
      steps: [],
      deadline: null,
      ...fields,
    }) as unknown as SandboxView;

  function show(isTTY: boolean, columns: number, ...views: SandboxView[]): string {
    let text = "";
    const live = new LiveView({ isTTY, columns, write: (part) => (text += part) }, () => 3000);
    for (const each of views) live.show(each);
    live.end();
    return text;
  }

  it("writes plain lines with a time where there is no terminal, one for each change", () => {
    const running = view({ steps: [STEP] });
    const done = view({ steps: [{ ...STEP, finishedAt: 5200 }] });
    const text = show(false, 80, running, running, done, done);
    expect(text.split("\n")).toEqual([
      "1970-01-01T00:00:03.000Z Provisioning/Preparation",
      "1970-01-01T00:00:03.000Z ✓ Image copied (node-v20, 312.4 MB) (4.2s)",
      "",
    ]);
  });

  it("draws one line anew on a terminal, cut to its width, and erases it at the end", () => {
    const text = show(true, 30, view({ steps: [STEP] }));
    expect(text).toBe("Provisioning/Preparation\n… Image being copied (node-v2\r\u001b[2K");
  });
});
