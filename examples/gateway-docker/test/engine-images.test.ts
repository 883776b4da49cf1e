import type { DriverProgress } from "@slipway-examples/gateway-core";
import type Docker from "dockerode";
import { VirtualClock } from "slipway/testing";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { EngineImages } from "../src/image/engine-images.js";

const NAME = "host/big:1";

/**
 * An engine that says of a pull what the test says, and then has the image. What it fakes: there is no daemon and no
 * socket; only the two calls that a pull makes are there.
 */
class SpokenEngine {
  readonly reports: DriverProgress[] = [];
  readonly #answer = new PassThrough();
  readonly #clock = new VirtualClock();
  #there = false;

  pull(): Promise<unknown> {
    const notThere = Object.assign(new Error("no such image"), { statusCode: 404 });
    const found = { Id: "sha256:1", Size: 9_000_000_000 };
    const docker = {
      createImage: () => Promise.resolve(this.#answer),
      getImage: () => ({
        inspect: () => (this.#there ? Promise.resolve(found) : Promise.reject(notThere)),
      }),
    } as unknown as Docker;
    const { signal } = new AbortController();
    const report = (progress: DriverProgress): void => void this.reports.push(progress);
    return new EngineImages(docker, this.#clock).prepare({ name: NAME }, "missing", { signal, report });
  }

  /** Says something, a second after what it said before. */
  async say(message: object): Promise<void> {
    this.#answer.write(`${JSON.stringify(message)}\n`);
    for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setImmediate(resolve));
    await this.#clock.advanceAsync(1000);
  }

  end(there = true): void {
    this.#there = there;
    this.#answer.end();
  }

  of(step: string): DriverProgress[] {
    return this.reports.filter((report) => report.step === step);
  }
}

const layer = (status: string, progressDetail: object = {}): object => ({ id: "a", status, progressDetail });

it("an engine over containerd: unpacking has signs of life and no bytes, and then its bytes", async () => {
  const engine = new SpokenEngine();
  const pulled = engine.pull();
  await engine.say(layer("Downloading", { current: 2_000_000_000, total: 4_000_000_000 }));
  await engine.say(layer("Download complete"));
  for (const current of [1, 2, 90]) await engine.say(layer("Extracting", { current, units: "s" }));
  const unpacking = engine.of("image");
  expect(unpacking.map(({ position, total, busySeconds }) => [position, total, busySeconds])).toEqual([
    [undefined, undefined, 2],
    [undefined, undefined, 90],
  ]);
  await engine.say(layer("Pull complete"));
  engine.end();
  await pulled;
  expect(engine.reports.at(-1)).toMatchObject({ step: "image", position: 4_000_000_000, done: true });
  expect(engine.of("download").at(-1)).toMatchObject({ position: 4_000_000_000, done: true });
  expect(new Set(engine.reports.map(({ subject }) => subject))).toEqual(new Set([NAME]));
});

it("a size that nobody told is not said to be nothing", async () => {
  const engine = new SpokenEngine();
  const pulled = engine.pull();
  await engine.say(layer("Download complete"));
  await engine.say(layer("Pull complete"));
  engine.end();
  await pulled;
  const ends = engine.reports.filter(({ done }) => done === true);
  expect(ends.at(-1)).not.toHaveProperty("position");
  expect(ends.at(-1)).toMatchObject({ step: "image", label: "Image pulled" });
});

it.each([
  [
    "as engines say it today",
    { errorDetail: { message: "no space left" } },
    /could not pull .*: no space left$/,
  ],
  ["as they did before", { error: "no space left" }, /could not pull .*: no space left$/],
  ["without a word", { errorDetail: {} }, /could not pull .*: no reason was given$/],
])("an error in the middle of the answer is one, %s", async (_, message, text) => {
  const engine = new SpokenEngine();
  const pulled = engine.pull();
  const failed = expect(pulled).rejects.toThrow(text);
  await engine.say(message);
  engine.end(false);
  await failed;
});
