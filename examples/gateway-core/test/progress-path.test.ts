import { readDeadline } from "slipway";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DriverProgress } from "../src/driver/driver.js";
import { IMAGE, ProgressPath } from "./progress-path.js";

const LIMIT_MS = 120_000;
const GB = 1_000_000_000;

let path: ProgressPath;

beforeEach(async () => {
  path = await ProgressPath.open();
});

afterEach(() => path.close());

const exporting = (position?: number, more: Partial<DriverProgress> = {}): DriverProgress => ({
  step: "image",
  label: "Image exported from local Docker",
  activeLabel: "Exporting image from local Docker",
  subject: IMAGE,
  unit: "bytes",
  position,
  ...more,
});
const plain = (step: string, label: string, activeLabel: string, done?: boolean): DriverProgress => ({
  step,
  label,
  activeLabel,
  subject: IMAGE,
  unit: "none",
  done,
});
const percents = (): (number | null)[] =>
  path.views.flatMap(({ steps }) => steps.find(({ step }) => step === "image")?.percent ?? []);

describe("a driver's report, on its way to a person", () => {
  it(
    "P-01: the bootstrap image completes nothing, each step has its time, and the image is ready when its root is",
    async () => {
      // Before any driver has said a word.
      expect(path.lines[0]).toBe(`[0.0s] box: image ${IMAGE}, driver fake, attempt 1`);
      const moves = { step: "export", total: undefined };
      await path.at(600);
      await path.say(exporting(512_000_000, { subject: "bootstrap:1", total: 512_000_000, done: true }));
      await path.say(exporting(0, moves));
      expect(path.step("image")).toMatchObject({ subject: IMAGE, status: "waiting", position: null });
      expect(path.step("export")).toMatchObject({ subject: IMAGE, status: "running" });
      expect(path.refusals()).toEqual(["other-subject"]);
      await path.at(45_600);
      await path.say(exporting(2.45 * GB, moves));
      await path.at(90_800);
      await path.say(
        exporting(4.9 * GB, moves),
        plain("format", "Root disk formatted", "Formatting root disk"),
      );
      expect(path.step("export")).toMatchObject({ finished: true, elapsedMs: 90_200 });
      await path.at(165_800);
      await path.say(plain("image", "Root filesystem prepared", "Preparing root filesystem"));
      expect(path.step("format")).toMatchObject({ finished: true, elapsedMs: 75_000 });
      await path.at(226_900);
      expect(path.step("image")).toMatchObject({ subject: IMAGE, finished: false });
      await path.at(227_000);
      await path.say(plain("overlay", "Overlay disk prepared", "Preparing overlay disk"));
      expect(path.step("image")).toMatchObject({ finished: true, elapsedMs: 61_200 });
      await path.at(227_100);
      await path.say(plain("supervisor", "Supervisor reached", "Waiting for VM supervisor"));
      // Now and then a step under way says how far it has come, and for how long it has said nothing.
      const repeated = path.lines.filter((line) => line.includes("silent for"));
      expect(repeated.join("\n")).toContain(`Exporting image from local Docker (${IMAGE}, 2.5 GB, `);
      expect(path.lines.filter((line) => !repeated.includes(line)).slice(1)).toEqual([
        "[0.0s] Provisioning/Preparation: preparation is under way",
        `[0.6s] … Exporting image from local Docker (${IMAGE}, 0 B) (0.0s)`,
        `[90.8s] ✓ Image exported from local Docker (${IMAGE}, 4.9 GB) (1m30s)`,
        `[90.8s] … Formatting root disk (${IMAGE}) (0.0s)`,
        `[165.8s] ✓ Root disk formatted (${IMAGE}) (1m15s)`,
        `[165.8s] … Preparing root filesystem (${IMAGE}) (0.0s)`,
        `[227.0s] ✓ Root filesystem prepared (${IMAGE}) (1m01s)`,
        `[227.0s] … Preparing overlay disk (${IMAGE}) (0.0s)`,
        `[227.1s] ✓ Overlay disk prepared (${IMAGE}) (0.1s)`,
        `[227.1s] … Waiting for VM supervisor (${IMAGE}) (0.0s)`,
      ]);
    },
    LIMIT_MS,
  );

  it(
    "P-03: an estimate that is too low cuts no bytes, and never shows 100 before the end",
    async () => {
      const total = 8_089_725_051;
      for (let position = 0; position <= 8_300_000_000; position += 830_000_000)
        await path.say(exporting(position, { total }));
      expect(Math.max(...percents().map((percent) => percent ?? 0))).toBe(99);
      expect(path.step("image")).toMatchObject({ position: 8_300_000_000, percent: 99, finished: false });
      await path.say(exporting(8_300_000_000, { done: true }));
      expect(path.step("image")).toMatchObject({ position: 8_300_000_000, percent: 100, finished: true });
      expect(path.lines.at(-1)).toBe(`[0.0s] ✓ Image exported from local Docker (${IMAGE}, 8.3 GB) (0.0s)`);
    },
    LIMIT_MS,
  );

  it(
    "P-05: a layer that exists already adds 0 of 0 and moves no percentage",
    async () => {
      await path.say(exporting(40, { part: "a", total: 100 }));
      expect(path.step("image")).toMatchObject({ position: 40, total: 100, percent: 40 });
      await path.say(exporting(0, { part: "b", total: 0 }));
      expect(path.step("image")).toMatchObject({ position: 40, total: 100, percent: 40 });
    },
    LIMIT_MS,
  );

  it(
    "P-09: a step that ends, starts again and ends is one entry, and is told of once",
    async () => {
      await path.say(exporting(100, { done: true }));
      await path.at(1000);
      await path.say(exporting());
      expect(path.step("image")).toMatchObject({ status: "running" });
      await path.say(exporting(300));
      await path.at(2000);
      await path.say(exporting(300, { done: true }));
      expect(path.views.at(-1)?.steps).toMatchObject([{ step: "image", finished: true, elapsedMs: 2000 }]);
      expect(path.lines.filter((line) => line.includes("✓"))).toHaveLength(1);
    },
    LIMIT_MS,
  );

  it(
    "P-12: 60 000 reports in a minute are few events, and the last is among them",
    async () => {
      const before = path.views.length;
      for (let second = 1; second <= 60; second += 1) {
        const reports = Array.from({ length: 1000 }, (_, index) =>
          exporting((second - 1) * 1000 + index + 1),
        );
        await path.say(...reports);
        await path.at(second * 1000);
      }
      expect(path.step("image").position).toBe(60_000);
      // The first of a burst, and what its thousand came to meanwhile; and what a gateway writes of its own.
      expect(path.views.length - before).toBeLessThanOrEqual(60 * 3);
    },
    LIMIT_MS,
  );
});

interface ProgressVector {
  readonly id: string;
  readonly input: {
    readonly op: string;
    readonly requestedImage: string;
    readonly events: readonly { reason: string; image_ref?: string; bytesDone?: number }[];
  };
  readonly expect: Record<string, unknown>;
}

const file = new URL("../../../test/fixtures/vectors/lifecycle.json", import.meta.url);
const vectors = (JSON.parse(readFileSync(file, "utf8")) as ProgressVector[]).filter(
  ({ input }) => input.op === "progress",
);

/** What a driver of this gateway says where OpenShell's sends such an event. */
function reportOf({
  reason,
  image_ref = IMAGE,
  bytesDone,
}: ProgressVector["input"]["events"][number]): DriverProgress {
  const done = reason === "Pulled" || reason === "CacheHit";
  return reason === "PreparingOverlay"
    ? plain("overlay", "Overlay disk prepared", "Preparing overlay disk")
    : exporting(bytesDone, { subject: image_ref, done });
}

describe("lifecycle vectors of progress, over the whole path", () => {
  it("are there", () => expect(vectors.length).toBeGreaterThan(2));

  it.each(vectors.map((vector) => [vector.id, vector] as const))(
    "%s",
    async (_id, { input, expect: expected }) => {
      expect(input.requestedImage).toBe(IMAGE);
      const bounds = async () => readDeadline((await path.record()).deadline!, path.bench.clock.now()).bounds;
      const before = await bounds();
      let completedBy: string | undefined;
      let refused = 0;
      for (const event of input.events) {
        refused = path.refusals().length;
        if (event.reason === "Restoring") await path.beginAgain();
        else await path.say(reportOf(event));
        if (path.step("image").finished) completedBy ??= event.reason;
      }
      const actual: Record<string, unknown> = {
        stepCompleted: path.step("image").finished,
        completedBy,
        imageNamed: path.step("image").subject,
        accepted: path.refusals().length === refused,
        deadlineExtended: (await bounds()).budget !== before.budget,
      };
      for (const [field, value] of Object.entries(expected))
        expect([field, actual[field]]).toEqual([field, value]);
      expect(path.lines[0]).toContain(IMAGE);
      expect(path.lines.join("\n")).not.toContain("bootstrap");
    },
    LIMIT_MS,
  );
});
