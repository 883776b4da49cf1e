import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DriverProgress } from "../src/driver/driver.js";
import type { Gateway } from "../src/gateway/gateway.js";
import type { LaunchContext } from "../src/driver/driver.js";
import { Bench } from "./bench.js";

const GOOD = {
  step: "image",
  label: "Image copied",
  subject: "image",
  unit: "bytes",
  position: 5,
  total: 10,
};

const circular: Record<string, unknown> = {};
circular["self"] = circular;

/** What a driver that nobody type-checked may say, and what is said of it. */
const MALFORMED: readonly (readonly [unknown, string])[] = [
  [{ ...GOOD, unit: undefined }, 'report.unit must be one of "bytes"|"none", got nothing'],
  [{ ...GOOD, unit: "items" }, 'report.unit must be one of "bytes"|"none", got "items"'],
  [{ ...GOOD, step: 7 }, "report.step must be string, got 7"],
  [{ ...GOOD, step: "" }, 'report.step must be a text that is not empty, got ""'],
  [{ ...GOOD, label: undefined }, "report.label must be string, got nothing"],
  [{ ...GOOD, subject: null }, "report.subject must be string, got null"],
  [{ ...GOOD, position: "5" }, 'report.position must be a number, 0 or more, got "5"'],
  [{ ...GOOD, position: -1 }, "report.position must be a number, 0 or more, got -1"],
  [{ ...GOOD, position: 5n }, "report.position must be a number, 0 or more, got 5n"],
  [{ ...GOOD, total: () => 5 }, "report.total must be a number, 0 or more, got a function"],
  [
    { ...GOOD, total: circular },
    "report.total must be a number, 0 or more, got a object that cannot be shown",
  ],
  [{ ...GOOD, done: "yes" }, 'report.done must be boolean, got "yes"'],
  [null, "report must be object, got null"],
  [undefined, "report must be object, got nothing"],
  ["image", 'report must be object, got "image"'],
];

describe("a malformed report of a driver", () => {
  let bench: Bench;
  let gateway: Gateway;
  let id: string;
  let logged: { readonly event: string; readonly error?: unknown }[];

  beforeEach(async () => {
    bench = await Bench.open();
    logged = [];
    gateway = await bench.gateway("one", { log: (event, fields) => logged.push({ event, ...fields }) });
    id = (await gateway.create(bench.request)).record.id;
    await bench.settle();
  });

  afterEach(() => bench.close());

  const say = (report: unknown): void => {
    const context = bench.driver.launches.at(-1)?.context as LaunchContext;
    context.report(report as DriverProgress);
  };
  const complaints = () => logged.filter(({ event }) => event.startsWith("progress-"));

  it.each(MALFORMED.map(([said, message]) => ({ said: [said], message })))(
    "is logged and left out: $message",
    async ({ said, message }) => {
      say(said[0]);
      await bench.settle();
      expect(complaints()).toEqual([{ event: "progress-malformed", sandbox: id, error: message }]);
      expect(gateway.refusals.of(id)).toMatchObject([{ event: "progress", why: "malformed", count: 1 }]);
      say(GOOD);
      bench.driver.launches.at(-1)?.succeed();
      await bench.settle();
      const { steps, phase } = await bench.read(gateway, id);
      expect(steps.steps).toMatchObject([{ step: "image", label: "Image copied" }]);
      expect(phase).toBe("Provisioning");
      expect(complaints()).toHaveLength(1);
    },
  );

  it("is logged once however often it comes, and counted each time", async () => {
    for (let position = 0; position < 50; position += 1) say({ ...GOOD, unit: undefined, position });
    say({ ...GOOD, subject: 1 });
    await bench.settle();
    expect(complaints().map(({ error }) => error)).toEqual([
      'report.unit must be one of "bytes"|"none", got nothing',
      "report.subject must be string, got 1",
    ]);
    expect(gateway.refusals.of(id)).toMatchObject([{ why: "malformed", count: 51 }]);
  });

  it("is no way for a secret into the log", async () => {
    const policy = { version: 1, env: { KEY: "a-secret-value" } };
    const { record } = await gateway.create({ ...bench.request, name: "other", policy });
    await bench.settle();
    say({ ...GOOD, position: "a-secret-value" });
    expect(complaints()).toEqual([
      {
        event: "progress-malformed",
        sandbox: record.id,
        error: 'report.position must be a number, 0 or more, got "[hidden]"',
      },
    ]);
  });

  it("does not change what was said before: a report is what it was when it was made", async () => {
    const report = { ...GOOD };
    say(report);
    report.position = Number.NaN;
    await bench.settle();
    const [step] = (await bench.read(gateway, id)).steps.steps;
    expect(step?.marks).toMatchObject([{ position: 5 }]);
  });
});
