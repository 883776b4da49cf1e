import { describe, expect, it } from "vitest";
import {
  type Condition,
  convertConditions,
  sandboxReasons,
  stateIsolationMismatch,
  summarize,
} from "./index.js";

describe("summarize", () => {
  it("says what Ready says, with its cause", () => {
    const [old] = convertConditions(
      stateIsolationMismatch([], { now: 0, timedOut: true, message: "restore it", observedGeneration: 2 }),
      {
        catalog: sandboxReasons,
      },
    );
    const summary = summarize([old as Condition], { generation: 3 });
    expect(summary).toMatchObject({ status: "False", reason: "ImagePreparationTimedOut", stale: true });
    expect(summary.text).toBe("Ready=False ImagePreparationTimedOut (IsolationBackendMismatch): restore it");
  });

  it("reads an absent condition as Unknown, and an absent generation as no claim", () => {
    expect(summarize([], { type: "Suspended", generation: 4 })).toEqual({
      type: "Suspended",
      status: "Unknown",
      reason: "NotYetReported",
      message: "",
      stale: false,
      text: "Suspended=Unknown NotYetReported",
    });
  });

  it.each<unknown>([undefined, null, {}, { toString: 1, valueOf: 1 }, { __proto__: null }, ["True"]])(
    "reads the status %j, which is none, as Unknown",
    (status) => {
      const odd = { type: "Ready", status, reason: "Odd", message: "" } as unknown as Condition;
      expect(summarize([odd])).toMatchObject({ status: "Unknown", text: "Ready=Unknown Odd" });
    },
  );

  it.each([undefined, null, { __proto__: null }])("has no word for a reason and a message of %j", (word) => {
    const pod = { type: "Ready", status: "True", reason: word, message: word };
    expect(summarize([pod as unknown as Condition])).toMatchObject({
      reason: "",
      message: "",
      text: "Ready=True",
    });
  });
});

describe("summarize, of odd fields", () => {
  const stored: Condition = {
    type: "Ready",
    status: "False",
    reason: "Starting",
    message: "m",
    lastTransitionTime: "",
  };

  it.each<[object]>([[{}], [{ reason: null }], [{ reason: "" }], [{ reason: 5 }], [{ message: "m" }]])(
    "says nothing of a cause without a reason: %j",
    (cause) => {
      const condition = { ...stored, cause } as unknown as Condition;
      expect(summarize([condition]).text).toBe("Ready=False Starting: m");
    },
  );

  it.each([undefined, null])("reads a status of %j as Unknown", (status) => {
    const summary = summarize([{ ...stored, status } as unknown as Condition]);
    expect(summary).toMatchObject({ status: "Unknown", text: "Ready=Unknown Starting: m" });
  });
});
