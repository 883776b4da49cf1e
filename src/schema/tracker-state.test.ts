import { describe, expect, it } from "vitest";
import { applyStepEvent, startTracking, type StepEvent, type TrackerState } from "../progress/index.js";
import { decodeTrackerState } from "./tracker-state.js";

const IMAGE = "local-big:1";

function stored(): TrackerState {
  let state = startTracking(
    [
      { step: "export", label: "Image exported", subject: IMAGE, total: 1000 },
      { step: "disk", label: "Root disk prepared", subject: IMAGE },
      { step: "overlay", label: "Overlay prepared", subject: "" },
    ],
    1000,
  );
  const events: StepEvent[] = [
    { type: "report", step: "export", subject: IMAGE, position: 100, total: 200, part: "a", run: 1 },
    { type: "report", step: "export", subject: IMAGE, position: 3, part: "a", unit: "s" },
    { type: "report", step: "export", subject: IMAGE, position: 180, part: "a" },
    { type: "finish", step: "export", subject: IMAGE },
    { type: "start", step: "disk", subject: IMAGE },
  ];
  for (const [index, event] of events.entries())
    ({ state } = applyStepEvent(state, event, 2000 + index * 2000));
  return state;
}

type Loose = Record<string, unknown> & { steps: Record<string, unknown>[] };

describe("decodeTrackerState", () => {
  it("gives back what was stored", () => {
    expect(decodeTrackerState(JSON.parse(JSON.stringify(stored())))).toEqual(stored());
  });

  it.each<[string, (state: Loose) => unknown]>([
    ["must be an object", () => null],
    ["must be an object", () => []],
    ["schemaVersion must be an integer", (state) => ({ ...state, schemaVersion: undefined })],
    ["schemaVersion must be 1, got 2", (state) => ({ ...state, schemaVersion: 2 })],
    ["extra must be absent", (state) => ({ ...state, extra: 1 })],
    ["version must be", (state) => ({ ...state, version: 0 })],
    ["steps must be", (state) => ({ ...state, steps: [] })],
    ["observedAt must be at or after startedAt", (state) => ({ ...state, observedAt: 999 })],
    ["steps[1].step must be a name that no other step has", (state) => edit(state, 1, { step: "export" })],
    ["steps[0].subject must be", (state) => edit(state, 0, { subject: undefined })],
    ["steps[0].total must be", (state) => edit(state, 0, { total: -1 })],
    ["steps[0].run must be at most the tracker's run", (state) => edit(state, 0, { run: 2 })],
    ["steps[0].startedAt must be from 1000 to observedAt", (state) => edit(state, 0, { startedAt: 999 })],
    ["steps[0].heardAt must be", (state) => edit(state, 0, { heardAt: null })],
    ["steps[0].heardAt must be from 2000", (state) => edit(state, 0, { heardAt: 1500 })],
    ["steps[0].finishedAt must be", (state) => edit(state, 0, { finishedAt: 99_000 })],
    [
      "steps[0].completedAt must be an instant at or before finishedAt",
      (state) => edit(state, 0, { completedAt: null }),
    ],
    [
      "steps[0].pace.at must be",
      (state) => edit(state, 0, { pace: { at: 1, position: 0, perSecond: null } }),
    ],
    ["steps[2].heardAt must be null until startedAt is set", (state) => edit(state, 2, { heardAt: 2000 })],
    ["steps[2].run must be 0 until", (state) => edit(state, 2, { run: 1 })],
    ["steps[2].marks must be empty until", (state) => edit(state, 2, { marks: state.steps[0]?.["marks"] })],
    ["steps[0].marks[1] must be of a part", (state) => edit(state, 0, { marks: [mark(), mark()] })],
    [
      "steps[0].marks[0].unit must be null for",
      (state) => edit(state, 0, { marks: [mark({ unit: "bytes" })] }),
    ],
    [
      "steps[0].marks[0].total must be null without",
      (state) => edit(state, 0, { marks: [mark({ part: null, total: 5 })] }),
    ],
    ["steps[0].marks[0].position must be", (state) => edit(state, 0, { marks: [mark({ position: null })] })],
    [
      "in at most 8 foreign units",
      (state) =>
        edit(state, 0, {
          marks: Array.from({ length: 9 }, (_, unit) => mark({ unit: `unit ${unit}`, total: null })),
        }),
    ],
  ])("refuses a damaged record: %s", (message, damage) => {
    const state = JSON.parse(JSON.stringify(stored())) as Loose;
    expect(() => decodeTrackerState(damage(state))).toThrow(message);
  });
});

function edit(state: Loose, index: number, change: Record<string, unknown>): Loose {
  return {
    ...state,
    steps: state.steps.map((step, place) => (place === index ? { ...step, ...change } : step)),
  };
}

function mark(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { part: "a", unit: null, position: 1, total: null, ...change };
}
