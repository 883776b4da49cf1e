import type { ObservationSource, ObservedSandbox, WatchEvent } from "../../phase/index.js";
import { expectEqual, expectThat, type ConformanceCase } from "./conformance-case.js";

/**
 * A driver's view of its backend under test, with a backend that can be told what to show.
 *
 * @public
 */
export interface ObservationSourceSubject {
  /** The implementation under test. */
  readonly source: ObservationSource;
  /** Makes the backend have a sandbox that runs, under this instance id. Resolves once it does. */
  start(id: string, instanceId: string): Promise<unknown>;
  /** Makes the backend have nothing of a sandbox. Resolves once it does. */
  remove(id: string): Promise<unknown>;
  /** Makes the backend not answer. Absent: that cannot be done, and the cases about it pass. */
  readonly breakBackend?: (() => Promise<unknown>) | undefined;
}

const SANDBOXES = 30;

/** A signal that ends with the case. */
async function during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  try {
    return await work(controller.signal);
  } finally {
    controller.abort();
  }
}

async function listAll(source: ObservationSource, signal: AbortSignal): Promise<readonly ObservedSandbox[]> {
  const items: ObservedSandbox[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | null = null; ; ) {
    const page = await source.list(cursor, signal);
    items.push(...page.items);
    if (page.cursor === null) return items;
    expectThat(
      `the cursor ${JSON.stringify(page.cursor)} is null on the last page, else a new text`,
      typeof page.cursor === "string" && !cursors.has(page.cursor),
    );
    cursors.add(page.cursor);
    cursor = page.cursor;
  }
}

/** The next news about a sandbox; the stream is open before `change` makes them. */
async function newsOf(
  source: ObservationSource,
  id: string,
  signal: AbortSignal,
  change: () => Promise<unknown>,
): Promise<WatchEvent> {
  const stream = source.watch(signal)[Symbol.asyncIterator]();
  let next = stream.next();
  await change();
  for (;;) {
    const result = await next;
    if (result.done === true) throw new Error(`the watch ended without news of ${id}`);
    if (result.value.id === id) return result.value;
    next = stream.next();
  }
}

/**
 * What every {@link ObservationSource} must do: absence is said only where it is known, what is seen names its sandbox
 * and its run, a listing is complete, a backend that does not answer is no observation, and news come.
 *
 * @example
 * ```ts
 * import { observationSourceConformance, type ObservationSourceSubject } from "slipway/testing";
 *
 * // Which promises a source does not keep. `open` makes a fresh one over an empty backend.
 * async function broken(open: () => ObservationSourceSubject): Promise<string[]> {
 *   const names: string[] = [];
 *   for (const { name, run } of observationSourceConformance) await run(open).catch(() => names.push(name));
 *   return names;
 * }
 * typeof broken; // => "function"
 * ```
 *
 * @public
 */
export const observationSourceConformance: readonly ConformanceCase<ObservationSourceSubject>[] = [
  {
    name: "what runs is seen as running, under its own id and instance",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        await subject.start("sb-1", "run-1");
        const seen = await source.get("sb-1", { instanceId: "run-1" }, signal);
        expectEqual("the id", seen?.id, "sb-1");
        const { exists, running, stale, instanceId } = seen?.observation ?? {};
        expectEqual(
          "the observation",
          { exists, running, stale, instanceId },
          { exists: true, running: true, stale: false, instanceId: "run-1" },
        );
      }),
  },
  {
    name: "what is not there is a definite not-found, before it came and after it went",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        const look = async (): Promise<unknown> =>
          (await source.get("sb-1", { instanceId: "run-1" }, signal))?.observation.exists ?? null;
        expectEqual("existence before", await look(), false);
        await subject.start("sb-1", "run-1");
        expectEqual("existence", await look(), true);
        await subject.remove("sb-1");
        expectEqual("existence afterwards", await look(), false);
      }),
  },
  {
    name: "what runs for another run than the expected one does not count as that run",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        await subject.start("sb-1", "run-1");
        const seen = await source.get("sb-1", { instanceId: "run-2" }, signal);
        const { running, stale, instanceId } = seen?.observation ?? {};
        expectThat(
          "an observation of run-1 is stale, says so by its instance, or shows nothing that runs",
          seen === null || stale === true || instanceId === "run-1" || running === false,
        );
      }),
  },
  {
    name: "a look at one sandbox is not upset by another one",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        await subject.start("sb-1", "run-1");
        await subject.start("sb-10", "run-10");
        await subject.remove("sb-1");
        const [gone, there] = [
          await source.get("sb-1", { instanceId: "run-1" }, signal),
          await source.get("sb-10", { instanceId: "run-10" }, signal),
        ];
        expectEqual("existence", [gone?.observation.exists, there?.observation.exists], [false, true]);
        expectEqual("the ids", [gone?.id, there?.id], ["sb-1", "sb-10"]);
      }),
  },
  {
    name: "a listing has everything that is there once, and nothing that is not",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        expectEqual("a listing of nothing", await listAll(source, signal), []);
        const ids = Array.from({ length: SANDBOXES }, (_, index) => `sb-${index + 10}`);
        for (const id of ids) await subject.start(id, `run-of-${id}`);
        await subject.remove(ids[0] ?? "");
        const items = await listAll(source, signal);
        const shown = items.filter(({ observation }) => observation.exists !== false);
        expectEqual("ids", shown.map(({ id }) => id).sort(), ids.slice(1));
        const wrong = shown.filter(({ id, observation }) => {
          const { instanceId, running } = observation;
          return running === false || (instanceId !== null && instanceId !== `run-of-${id}`);
        });
        expectEqual(
          "entries that contradict what runs",
          wrong.map(({ id }) => id),
          [],
        );
      }),
  },
  {
    name: "a backend that does not answer is no observation, and no listing",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        if (subject.breakBackend === undefined) return;
        await subject.start("sb-1", "run-1");
        await subject.breakBackend();
        const seen = await source.get("sb-1", { instanceId: "run-1" }, signal).catch(() => null);
        expectThat("nothing is said of a sandbox", seen === null || seen.observation.exists === null);
        const listed = await source.list(null, signal).then(
          () => true,
          () => false,
        );
        expectEqual("a listing", listed, false);
      }),
  },
  {
    name: "news come of what starts and of what goes",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        await newsOf(source, "sb-1", signal, () => subject.start("sb-1", "run-1"));
        await newsOf(source, "sb-1", signal, () => subject.remove("sb-1"));
      }),
  },
  {
    name: "a sandbox that was started again is seen under its new instance",
    run: async (open) =>
      during(async (signal) => {
        const subject = await open();
        const { source } = subject;
        await subject.start("sb-1", "run-1");
        await source.get("sb-1", { instanceId: "run-1" }, signal);
        await listAll(source, signal);
        await subject.remove("sb-1");
        await subject.start("sb-1", "run-2");
        const seen = await source.get("sb-1", { instanceId: "run-2" }, signal);
        const { exists, running, stale, instanceId } = seen?.observation ?? {};
        expectEqual(
          "the observation",
          { exists, running, stale, instanceId },
          { exists: true, running: true, stale: false, instanceId: "run-2" },
        );
        const listed = (await listAll(source, signal)).find(({ id }) => id === "sb-1");
        expectThat(
          "the listing does not show the instance of before",
          listed !== undefined && listed.observation.instanceId !== "run-1",
        );
      }),
  },
  {
    name: "a watch ends with its signal",
    run: async (open) => {
      const { source } = await open();
      const controller = new AbortController();
      const stream = source.watch(controller.signal)[Symbol.asyncIterator]();
      const next = stream.next();
      controller.abort();
      // It may end or reject, and may have had news before.
      for (let result = await next.catch(() => null); result !== null && result.done !== true; )
        result = await stream.next().catch(() => null);
    },
  },
];
