/**
 * The retrier against p-retry alone, on the same work in the same process. Ratios travel between machines; times do
 * not. Needs a build:
 *
 *   npm run build && node --expose-gc bench/retry.mjs [--count 20000]
 */
import pRetry from "p-retry";
import { BootstrapRetrier, exponentialBackoff, retryBootstrap } from "../dist/retry/index.js";

const flag = process.argv.indexOf("--count");
const COUNT = flag < 0 ? 20_000 : Number(process.argv[flag + 1]);
const ROUNDS = 5;
const HOUR = 3_600_000;

const macrotask = () => new Promise((resolve) => setImmediate(resolve));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function heap() {
  for (let turn = 0; turn < 4; turn += 1) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function refuse() {
  throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:443"), { code: "ECONNREFUSED" });
}

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

const backoff = exponentialBackoff({ initialMs: HOUR, capMs: HOUR, jitter: "none" });

const peers = {
  "p-retry": (signal) => pRetry(refuse, { retries: 10, minTimeout: HOUR, signal }),
  slipway: (signal) => retryBootstrap(refuse, { backoff, signal }),
};

/** Many that wait: heap for each, and what one shared abort costs. */
async function waiting(start) {
  const controller = new AbortController();
  const counted = countListeners(controller.signal);
  const runs = new Array(COUNT);
  const before = heap();
  const began = performance.now();
  for (let index = 0; index < COUNT; index += 1) runs[index] = start(controller.signal);
  await macrotask();
  await macrotask();
  const createMs = performance.now() - began;
  const bytes = (heap() - before) / COUNT;
  const listeners = counted.most;
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const settled = Promise.allSettled(runs);
  const abortBegan = performance.now();
  controller.abort(new Error("shutdown"));
  const dispatchMs = performance.now() - abortBegan;
  await settled;
  const abortMs = performance.now() - abortBegan;
  return { bytes, createMs, listeners, timers, dispatchMs, abortMs };
}

/** The common case: nothing fails. */
async function direct(start) {
  const count = 200_000;
  const began = performance.now();
  for (let index = 0; index < count; index += 1) await start();
  return ((performance.now() - began) * 1e6) / count;
}

process.removeAllListeners("warning");
process.on("warning", () => undefined);

const results = { "p-retry": [], slipway: [] };
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, start] of Object.entries(peers)) results[name].push(await waiting(start));

const value = () => 1;
const shared = new BootstrapRetrier();
const directs = { "p-retry": [], slipway: [], reused: [] };
for (let round = 0; round < ROUNDS; round += 1) {
  directs["p-retry"].push(await direct(() => pRetry(value)));
  directs.slipway.push(await direct(() => retryBootstrap(value)));
  directs.reused.push(await direct(() => shared.run(value)));
}

const of = (name, field) => median(results[name].map((result) => result[field]));
const ratio = (mine, theirs) => `${(mine / theirs).toFixed(2)}x`;
const row = (label, field, digits, unit) => {
  const [mine, theirs] = [of("slipway", field), of("p-retry", field)];
  return {
    figure: label,
    slipway: `${mine.toFixed(digits)} ${unit}`,
    "p-retry": `${theirs.toFixed(digits)} ${unit}`,
    ratio: ratio(mine, theirs),
  };
};
const success = (name) => median(directs[name]);

console.log(
  `${COUNT} retriers after one failure, one shared signal; median of ${ROUNDS}; Node ${process.versions.node}`,
);
console.table([
  row("heap per waiting retrier", "bytes", 0, "B"),
  row("create and fail once, all", "createMs", 1, "ms"),
  row("armed host timers", "timers", 0, ""),
  row("listeners on the signal", "listeners", 0, ""),
  row("shared abort, synchronous part", "dispatchMs", 2, "ms"),
  row("shared abort until all settled", "abortMs", 1, "ms"),
  {
    figure: "success at once",
    slipway: `${success("slipway").toFixed(0)} ns`,
    "p-retry": `${success("p-retry").toFixed(0)} ns`,
    ratio: ratio(success("slipway"), success("p-retry")),
  },
  {
    figure: "success at once, retrier reused",
    slipway: `${success("reused").toFixed(0)} ns`,
    "p-retry": `${success("p-retry").toFixed(0)} ns`,
    ratio: ratio(success("reused"), success("p-retry")),
  },
]);

/** The same figure for other shapes of the work: an async function, one that fails later, and the class. */
async function heapOf(start) {
  const controller = new AbortController();
  const runs = new Array(COUNT);
  const before = heap();
  for (let index = 0; index < COUNT; index += 1) runs[index] = start(controller.signal);
  for (let turn = 0; turn < 4; turn += 1) await macrotask();
  const bytes = (heap() - before) / COUNT;
  const settled = Promise.allSettled(runs);
  controller.abort(new Error("shutdown"));
  await settled;
  return bytes;
}

const operations = {
  "throws at once": refuse,
  "async, throws at once": async () => refuse(),
  "async, throws later": async () => {
    await null;
    refuse();
  },
};
const shapes = [];
for (const [operation, work] of Object.entries(operations)) {
  const theirs = await heapOf((signal) => pRetry(work, { retries: 10, minTimeout: HOUR, signal }));
  const asFunction = await heapOf((signal) => retryBootstrap(work, { backoff, signal }));
  const asClass = await heapOf((signal) => new BootstrapRetrier({ backoff, signal }).run(work));
  shapes.push({
    operation,
    retryBootstrap: ratio(asFunction, theirs),
    BootstrapRetrier: ratio(asClass, theirs),
  });
}
console.log("heap per waiting retrier, against p-retry");
console.table(shapes);

const bound = of("slipway", "bytes") / of("p-retry", "bytes");
if (of("slipway", "timers") > 1 || of("slipway", "listeners") > 1 || bound > 1.2) process.exitCode = 1;
