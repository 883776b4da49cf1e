import { describe, expect, it } from "vitest";
import { announcementOf, joinAnnouncements } from "../src/page/announcements.js";
import { connectionText } from "../src/page/connection-text.js";
import { createFields } from "../src/page/create-fields.js";
import { factsOf } from "../src/page/facts.js";
import { gatesOf } from "../src/page/gates.js";
import { summaryOf, symbolOf, toneOf } from "../src/page/summary.js";
import { afterEvents, STEP, viewAt } from "./page-views.js";
import { NOW, recordWith } from "./records.js";
import { imageReport, recordAfter } from "./step-reports.js";

describe("rows", () => {
  /** Before the silence of these records, which began a minute ago, is too long. */
  const EARLY = NOW - 55_000;
  const copying = recordAfter(
    [EARLY - 5000, imageReport(0, { total: 100_000_000 })],
    [EARLY, imageReport(25_000_000, { total: 100_000_000 })],
  );
  const working = viewAt(copying, EARLY);

  it("show the step under way and what is left", () => {
    const row = summaryOf(working, EARLY);
    expect(row).toMatchObject({ name: "box", phase: "Provisioning", tone: "busy", bar: { percent: 25 } });
    expect(row.left).toMatch(/ left$/);
  });

  it("say what the attempt waits for after a rejection", () => {
    const rejected = afterEvents(
      recordWith(),
      [NOW - 58_000, { type: "enter", phase: "admission" }],
      [NOW - 57_000, { type: "reject", generation: 1, message: "no <b>such</b> host" }],
    );
    expect(summaryOf(viewAt(rejected, EARLY), EARLY).text).toBe(
      "Configuration rejected: no <b>such</b> host",
    );
  });

  it("have no bar and no time once the attempt is over", () => {
    const over = afterEvents(copying, [EARLY, { type: "cancel", reason: "enough" }]);
    expect(summaryOf(viewAt(over, NOW), NOW)).toMatchObject({ bar: null, left: "" });
  });

  it("show phases of a newer gateway, and names of the object's own kind, as unsure", () => {
    for (const phase of ["Hibernating", "constructor", "__proto__", ""]) expect(toneOf(phase)).toBe("unsure");
    expect(symbolOf("unsure")).toBe("?");
  });
});

describe("gates", () => {
  it("say what a button would do, or why it may not be pressed", () => {
    const gates = gatesOf({
      start: {
        allowed: false,
        reason: "Deleting",
        message: "start is refused",
        rule: "start-while-deleting",
      },
      stop: { allowed: true, route: "noop", rule: "stop-stopped" },
      delete: { allowed: true, route: "delete", rule: "delete-anything" },
    });
    expect(gates.map(({ label, open, why, rule }) => [label, open, why, rule])).toEqual([
      ["Start", false, "start is refused", "start-while-deleting"],
      ["Stop", false, "Nothing to do: it is so already.", "stop-stopped"],
      ["Delete", true, expect.stringContaining("for good"), "delete-anything"],
    ]);
  });

  it("of a newer gateway keep their routes and operations", () => {
    const newer = { pause: { allowed: true, route: "freeze", rule: "pause-any" } };
    expect(gatesOf(newer as never)).toEqual([
      { operation: "pause", label: "Pause", open: true, why: "Route: freeze.", rule: "pause-any" },
    ]);
  });

  it("of real records are those of the API", () => {
    const { operations } = viewAt(recordWith(), NOW);
    expect(gatesOf(operations).map(({ operation }) => operation)).toEqual(["start", "stop", "delete"]);
  });
});

describe("facts", () => {
  it("leave out what there is not, and quote words that are more than one", () => {
    const { spec } = recordWith();
    const view = viewAt(recordWith({ spec: { ...spec, command: ["sh", "-c", 'echo "a b"'] } }), NOW);
    const facts = new Map(factsOf(view, NOW).map(({ term, text }) => [term, text]));
    expect(facts.get("Command")).toBe(String.raw`sh -c "echo \"a b\""`);
    expect(facts.get("Image")).toBe("image (/image)");
    expect(facts.get("Configuration")).toBe("generation 1, not applied yet");
    expect(facts.get("Created")).toBe("1 min ago");
    for (const term of ["Ended", "Isolation backend", "Restarts by itself", "Refused news"])
      expect(facts.has(term)).toBe(false);
  });

  it("tell of exits, restarts and refusals", () => {
    const record = recordWith({
      exitSignal: "SIGKILL",
      finishedAt: NOW - 3000,
      restarts: 2,
      restartAt: NOW + 8000,
    });
    const refusals = [{ event: "progress", why: "duplicate", count: 3, lastAt: NOW }];
    const facts = factsOf({ ...viewAt(record, NOW), refusals }, NOW);
    expect(facts).toContainEqual({ term: "Ended", text: "signal SIGKILL, 3 s ago" });
    expect(facts).toContainEqual({ term: "Restarts by itself", text: "2, the next in 8 s" });
    expect(facts).toContainEqual({ term: "Refused news", text: "progress: duplicate (3×)" });
  });
});

describe("announcements", () => {
  const before = viewAt(recordWith(), NOW);

  it("tell of phases, and not of bytes", () => {
    expect(announcementOf(before, { ...before, version: 2, steps: [STEP] })).toBeNull();
    expect(announcementOf(before, { ...before, phase: "Ready" })).toBe("box is Ready.");
    expect(announcementOf(before, { ...before, phase: "Error", reason: "Boom", message: "It broke." })).toBe(
      "box is Error, Boom. It broke.",
    );
    expect(announcementOf(before, undefined)).toBe("box is gone.");
    expect(announcementOf(undefined, before)).toBe("box is new: Provisioning.");
    expect(announcementOf(undefined, undefined)).toBeNull();
  });

  it("of many are told in few words", () => {
    expect(joinAnnouncements(["a.", "b.", "c."])).toBe("a. b. c.");
    expect(joinAnnouncements(["a.", "b.", "c.", "d."])).toBe("a. b. c. And 1 more change.");
    expect(joinAnnouncements(Array.from({ length: 500 }, () => "x."))).toBe("x. x. x. And 497 more changes.");
  });
});

describe("the form of a new sandbox", () => {
  const form = {
    name: " box ",
    image: "/image",
    command: "sh\n-c\n echo  a\n",
    driver: "",
    policy: "",
    driverOptions: "",
  };

  it("becomes the body of a request", () => {
    expect(createFields(form)).toEqual({
      ok: true,
      body: { name: "box", image: { path: "/image" }, command: ["sh", "-c", " echo  a"] },
    });
    const more = {
      ...form,
      image: "node:20",
      driver: "docker",
      policy: '{"version":1}',
      driverOptions: '{"a":[1]}',
    };
    expect(createFields(more)).toMatchObject({
      body: {
        image: { name: "node:20" },
        driver: "docker",
        policy: { version: 1 },
        driverOptions: { a: [1] },
      },
    });
  });

  it("names the field that is no JSON", () => {
    expect(createFields({ ...form, policy: "{" })).toMatchObject({
      ok: false,
      field: "policy",
      message: expect.stringContaining("policy is no JSON"),
    });
  });
});

describe("the connection", () => {
  it("says in words how it stands", () => {
    expect(connectionText("live", "", NOW)).toBe("Live");
    expect(connectionText("connecting", "", 0)).toBe("Connecting…");
    expect(connectionText("unauthorized", "", 0)).toBe("Not signed in");
    expect(connectionText("lost", "network error", 0)).toBe("Connection lost. Trying again…");
    expect(connectionText("lost", "the gateway answered 403", NOW)).toMatch(
      /^Connection lost \(the gateway answered 403\)\. What you see is of .+\. Trying again…$/,
    );
  });
});
