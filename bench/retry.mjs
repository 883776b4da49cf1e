/**
 * The retrier against what people use today, on the same work in the same process: a success at once, a failure and a
 * success, many that wait, and one abort for all of them.
 *
 *   npm run build && node --expose-gc bench/retry.mjs [--json] [--peers FOLDER] [--count 20000]
 */
import { BootstrapRetrier, classify } from "slipway/retry";
import { systemClock } from "slipway";
import { cpuMs, heap, interleave, perOperation, perOperationAsync, pick, publish } from "./harness.mjs";
import { peersFolder } from "./peers.mjs";
import { retriers } from "./retriers.mjs";

const flag = process.argv.indexOf("--count");
const COUNT = flag < 0 ? 20_000 : Number(process.argv[flag + 1]);
const SHAPED = 2000;
const HOUR = 3_600_000;

const macrotask = () => new Promise((resolve) => setImmediate(resolve));
const refusal = () =>
  Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:443"), { code: "ECONNREFUSED" });
function refuse() {
  throw refusal();
}

process.removeAllListeners("warning");
process.on("warning", () => undefined);

const folder = peersFolder();
const quick = await retriers(folder, 1);
const patient = await retriers(folder, HOUR);
const each = (contenders, measure) =>
  Object.fromEntries(Object.entries(contenders).map(([name, one]) => [name, () => measure(one)]));

/** The common case: nothing fails. */
const DIRECT = 4000;
const value = () => 1;
const later = async () => 1;
const direct = (work) => (one) =>
  perOperationAsync(DIRECT, async () => {
    for (let index = 0; index < DIRECT; index += 1) await one.run(work);
  });
const reused = new BootstrapRetrier();
const withReused = { ...quick, reused: { run: (work) => reused.run(work) } };
// A round is a millisecond or two. While the host still compiles, which it does on other threads, it counts as the work of
// whoever is timed then, so as many rounds again are thrown away first.
const settled = async (contenders) => {
  await interleave(contenders, { rounds: 15 });
  return interleave(contenders, { rounds: 15 });
};
const successes = await settled(each(withReused, direct(value)));
const promised = await settled(each(quick, direct(later)));

/** What one failure adds: a thousand at once, so that the waits overlap. The error itself is made beforehand. */
const known = refusal();
const RETRIED = 1000;
const retried = await interleave(
  each(quick, (one) =>
    perOperationAsync(RETRIED, () =>
      Promise.all(
        Array.from({ length: RETRIED }, () => {
          let calls = 0;
          return one.run(async () => {
            calls += 1;
            if (calls === 1) throw known;
            return calls;
          });
        }),
      ),
    ),
  ),
  { rounds: 9 },
);

/** What the parts of a first try cost by themselves: where the time goes. */
const parts = await interleave(
  {
    clock: () =>
      perOperation(100_000, () => {
        for (let index = 0; index < 100_000; index += 1) systemClock.now();
      }),
    await: () =>
      perOperationAsync(DIRECT, async () => {
        for (let index = 0; index < DIRECT; index += 1) await null;
      }),
    classify: () =>
      perOperation(DIRECT, () => {
        for (let index = 0; index < DIRECT; index += 1) classify(known);
      }),
  },
  { rounds: 7 },
);

/** Counts what is added to and taken from a signal. */
function countListeners(signal) {
  const counted = { now: 0, most: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args) => {
    counted.now += 1;
    counted.most = Math.max(counted.most, counted.now);
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args) => {
    counted.now -= 1;
    removeEventListener.apply(signal, args);
  };
  return counted;
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** Many that wait after a first failure: heap for each, and what one shared abort costs. */
async function waiting(one, work, count, measure = heap) {
  const controller = new AbortController();
  const counted = countListeners(controller.signal);
  const runs = new Array(count);
  const armed = timers();
  const before = measure();
  const began = cpuMs();
  for (let index = 0; index < count; index += 1) runs[index] = one.run(work, controller.signal);
  for (let turn = 0; turn < 4; turn += 1) await macrotask();
  const createNs = ((cpuMs() - began) * 1e6) / count;
  const bytes = (measure() - before) / count;
  const result = { bytes, createNs, timers: timers() - armed, listeners: counted.most };
  if (!one.abortable) {
    // These wait for an hour: nobody can tell them to stop, and this process ends by itself.
    for (const run of runs) run.catch(() => undefined);
    return result;
  }
  const settled = Promise.allSettled(runs);
  const aborting = cpuMs();
  controller.abort(new Error("shutdown"));
  await settled;
  return { ...result, abortMs: cpuMs() - aborting };
}

/** Work in several shapes: that throws, an async function, and one that fails later. */
const shapes = {
  "throws at once": refuse,
  "async, throws at once": async () => refuse(),
  "async, throws later": async () => {
    await null;
    refuse();
  },
};
const bytesOf = {};
for (const [shape, work] of Object.entries(shapes)) {
  // What is made once is made before, the code that the host compiles after many calls above all. Those that cannot be
  // aborted get fewer: they stay.
  for (const one of Object.values(patient)) await waiting(one, work, one.abortable ? SHAPED : 20, () => 0);
  bytesOf[shape] = pick(
    await interleave(
      each(patient, (one) => waiting(one, work, SHAPED)),
      { rounds: 1, warmUp: false },
    ),
    "bytes",
  );
}

const { slipway, "p-retry": theirs, Effect } = patient;
// What p-retry takes grows with the square of the number, so it has one round.
const many = {
  ...(await interleave(
    each({ slipway }, (one) => waiting(one, refuse, COUNT)),
    { rounds: 3 },
  )),
  "p-retry": await waiting(theirs, refuse, COUNT),
};

/** From the abort to the rejection in the hands of the caller, one at a time. */
async function latency(one) {
  const taken = [];
  for (let turn = 0; turn < 200; turn += 1) {
    const controller = new AbortController();
    const run = one.run(refuse, controller.signal);
    await macrotask();
    const began = performance.now();
    controller.abort();
    await run.catch(() => undefined);
    taken.push((performance.now() - began) * 1e6);
  }
  return taken.toSorted((a, b) => a - b)[100];
}
const latencies = await interleave(each({ slipway, "p-retry": theirs, Effect }, latency), { rounds: 3 });

const heapTarget = (text) => ({ than: "p-retry", atMost: 1.2, text });
publish({
  title: `Retry, ${COUNT} that wait`,
  figures: [
    {
      id: "first-try",
      figure: "retry: a success at once, the work gives a plain value",
      unit: "ns",
      values: successes,
      target: { than: "p-retry", atMost: 0.25, text: "well below p-retry: at most a quarter" },
    },
    {
      id: "first-try-near",
      figure: "retry: the same, against cockatiel",
      unit: "ns",
      values: { slipway: successes.slipway, cockatiel: successes.cockatiel },
      target: { than: "cockatiel", atMost: 2, text: "near cockatiel: at most twice" },
    },
    {
      id: "first-try-async",
      figure: "retry: a success at once, the work is an async function",
      unit: "ns",
      values: promised,
    },
    {
      id: "retry",
      figure: "retry: a failure, a wait of 1 ms and a success together",
      unit: "ns",
      values: retried,
    },
    ...Object.entries(bytesOf).flatMap(([shape, values]) => [
      {
        id: `heap ${shape}`,
        figure: `retry: heap of one that waits, ${shape}, \`retryBootstrap\``,
        unit: "B",
        values,
        target: heapTarget("at most 1.2 times p-retry"),
      },
      {
        id: `heap-class ${shape}`,
        figure: `retry: heap of one that waits, ${shape}, \`BootstrapRetrier\``,
        unit: "B",
        own: "BootstrapRetrier",
        values: { BootstrapRetrier: values.BootstrapRetrier, "p-retry": values["p-retry"] },
        target: heapTarget("at most 1.2 times p-retry"),
      },
    ]),
    {
      id: "heap-many",
      figure: `retry: heap of one that waits, of ${COUNT} on one signal`,
      unit: "B",
      values: pick(many, "bytes"),
      target: heapTarget("at most 1.2 times p-retry"),
    },
    {
      id: "start-many",
      figure: "retry: start and first failure of one",
      unit: "ns",
      values: pick(many, "createNs"),
    },
    {
      id: "abort-many",
      figure: `retry: one abort for ${COUNT}, until all settled`,
      unit: "ms",
      values: pick(many, "abortMs"),
      target: { than: "p-retry", atMost: 0.1, text: "at least 10 times faster than p-retry" },
    },
    { id: "abort-one", figure: "retry: one abort for one, wall time", unit: "ns", values: latencies },
    {
      id: "retry-timers",
      figure: `retry: host timers of ${COUNT} that wait`,
      unit: "",
      values: pick(many, "timers"),
      target: { atMost: 1, text: "one" },
    },
    {
      id: "retry-listeners",
      figure: `retry: listeners on the signal of ${COUNT} that wait`,
      unit: "",
      values: pick(many, "listeners"),
      target: { atMost: 1, text: "one" },
    },
  ],
  tables: [
    {
      title: "What the parts of a run cost by themselves",
      rows: [
        { part: "a reading of the clock", ns: Math.round(parts.clock) },
        { part: "an await", ns: Math.round(parts.await) },
        { part: "`classify` of a refused connection", ns: Math.round(parts.classify) },
      ],
    },
  ],
});
process.exit();
