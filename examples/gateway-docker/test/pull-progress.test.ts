import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PullProgress, type PullStep } from "../src/image/pull-progress.js";

const said = (id: string, status: string, current?: number, total?: number): Record<string, unknown> => ({
  id,
  status,
  progressDetail: current === undefined ? {} : { current, total },
});

/** As an engine says it whose images are in containerd: how long it has unpacked, and no bytes. */
const busy = (id: string, seconds: number): Record<string, unknown> => ({
  id,
  status: "Extracting",
  progressDetail: { current: seconds, units: "s" },
});

function play(messages: readonly Record<string, unknown>[]): PullStep[] {
  const progress = new PullProgress();
  return messages.flatMap((message) => progress.take(message) ?? []);
}

describe("what an engine says of a pull", () => {
  it("adds up the layers of a download, and then what was unpacked", () => {
    const steps = play([
      { id: "1", status: "Pulling from library/x" },
      said("a", "Pulling fs layer"),
      said("b", "Pulling fs layer"),
      said("b", "Waiting"),
      said("a", "Downloading", 30, 100),
      said("b", "Downloading", 20, 50),
      said("a", "Download complete"),
      said("a", "Extracting", 40, 100),
      said("b", "Verifying Checksum"),
      said("b", "Download complete"),
      said("a", "Extracting", 100, 100),
      said("a", "Pull complete"),
      said("b", "Extracting", 50, 50),
      said("b", "Pull complete"),
      { status: "Digest: sha256:0" },
    ]);
    expect(
      steps
        .filter(({ step }) => step === "download")
        .map(({ position, total, done }) => [position, total, done]),
    ).toEqual([
      [0, null, false],
      [0, null, false],
      [0, null, false],
      [30, null, false],
      [50, 150, false],
      [120, 150, false],
      [120, 150, false],
      [150, 150, true],
    ]);
    expect(steps.filter(({ step }) => step === "image").map(({ position }) => position)).toEqual([
      40, 100, 100, 150, 150,
    ]);
  });

  it("counts a layer that is there already as nothing on either side", () => {
    const steps = play([
      said("a", "Pulling fs layer"),
      said("old", "Already exists"),
      said("a", "Downloading", 30, 100),
    ]);
    expect(steps.at(-1)).toMatchObject({ step: "download", position: 30, total: 100, done: false });
  });

  it("knows a size that was never told once the layer is complete", () => {
    const steps = play([
      said("a", "Pulling fs layer"),
      said("a", "Download complete"),
      said("a", "Extracting", 3, 9),
    ]);
    expect(steps.map(({ step, position, total, done }) => [step, position, total, done])).toEqual([
      ["download", 0, null, false],
      ["download", 0, 0, false],
      ["download", 9, 9, true],
    ]);
  });

  it("does not end the download with the layers that are there already, which are named first", () => {
    const steps = play([
      said("old", "Already exists"),
      said("older", "Already exists"),
      said("a", "Pulling fs layer"),
      said("a", "Downloading", 50, 50),
      said("a", "Download complete"),
      // Announced late, when all the others had come.
      said("b", "Pulling fs layer"),
      said("b", "Downloading", 10, 100),
    ]);
    expect(steps.map(({ step, done }) => `${step} ${done}`)).toEqual(steps.map(() => "download false"));
    expect(steps.at(-1)).toMatchObject({ position: 60, total: 150 });
  });

  it("never takes the seconds of an unpacking for bytes, and counts a layer's bytes once it is there", () => {
    const steps = play([
      said("a", "Pulling fs layer"),
      said("b", "Pulling fs layer"),
      said("a", "Downloading", 3_000_000_000, 4_000_000_000),
      said("b", "Downloading", 900, 900),
      said("a", "Download complete"),
      said("b", "Download complete"),
      busy("a", 1),
      busy("a", 1),
      busy("a", 2),
      busy("b", 1),
      said("b", "Pull complete"),
      busy("a", 180),
      said("a", "Pull complete"),
    ]).filter(({ step }) => step === "image");
    expect(steps.map(({ position, total, seconds }) => [position, total, seconds])).toEqual([
      [null, 4_000_000_900, 2],
      [null, 4_000_000_900, 3],
      [900, 4_000_000_900, 3],
      [900, 4_000_000_900, 181],
      [4_000_000_900, 4_000_000_900, 181],
    ]);
  });

  it("takes the time of an unpacking beside a download for a sign of that, and for no bytes", () => {
    const steps = play([
      said("a", "Pulling fs layer"),
      said("b", "Downloading", 10, 100),
      said("a", "Downloading", 50, 50),
      said("a", "Download complete"),
      busy("a", 7),
    ]);
    expect(steps.at(-1)).toEqual({ step: "download", position: 60, total: 150, seconds: 7, done: false });
  });

  it("takes nothing for bytes that names another unit, whatever it is of", () => {
    for (const units of ["s", "layers"]) {
      for (const status of ["Downloading", "Extracting", "Pulling layer fs"]) {
        const [step] = play([{ id: "a", status, progressDetail: { current: 5, total: 9, units } }]);
        expect(step?.position ?? 0).toBe(0);
        expect(step?.total ?? null).toBe(null);
      }
    }
  });

  it("says how much was fetched only when it was told", () => {
    const fetched = (...messages: readonly Record<string, unknown>[]): number | null => {
      const progress = new PullProgress();
      for (const message of messages) progress.take(message);
      return progress.fetched;
    };
    expect(fetched()).toBe(null);
    // Fetched between two looks of the engine, which never told its size.
    expect(fetched(said("a", "Pulling fs layer"), said("a", "Download complete"))).toBe(null);
    expect(fetched(said("a", "Already exists"))).toBe(0);
    expect(fetched(said("a", "Already exists"), said("b", "Pulling layer fs", 7, 9))).toBe(9);
  });

  it("never takes bytes back, never passes a total, and finishes the download once, whatever is said in which order", () => {
    const message = fc.record({
      id: fc.constantFrom("a", "b", "c", "1", undefined),
      status: fc.constantFrom(
        "Pulling fs layer",
        "Waiting",
        "Downloading",
        "Verifying Checksum",
        "Download complete",
        "Extracting",
        "Pull complete",
        "Already exists",
        "Something new",
      ),
      progressDetail: fc.option(
        fc.record({
          current: fc.oneof(fc.integer(), fc.constant("much")),
          total: fc.oneof(fc.integer(), fc.constant(null)),
          units: fc.constantFrom(undefined, "", "s"),
        }),
      ),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
        const steps = play(messages);
        const last = { download: 0, image: 0 };
        for (const { step, position: told, total } of steps) {
          const position = told ?? 0;
          expect(position).toBeGreaterThanOrEqual(last[step]);
          last[step] = position;
          expect(Number.isSafeInteger(position) && position >= 0).toBe(true);
          if (total !== null) expect(position).toBeLessThanOrEqual(total);
        }
        expect(steps.filter(({ done }) => done).length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
