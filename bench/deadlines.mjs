/**
 * Deadlines against raw host timers, in one run: time, memory and host timers for many live ones.
 * Needs a build; prints a table, or with --json one object. Ratios travel between machines, nanoseconds do not.
 *
 *   npm run build && node --expose-gc bench/deadlines.mjs [--json] [COUNT]
 */
import { definePlan, PhasedDeadline, systemClock, TimerQueue } from "slipway";

const json = process.argv.includes("--json");
const COUNT = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 100_000);
const ROUNDS = 5;

if (typeof globalThis.gc !== "function") {
  console.error("Run with --expose-gc: the heap is measured after a collection.");
  process.exit(2);
}

const MINUTE = 60_000;
const plan = definePlan({
  phases: [
    {
      name: "preparation",
      budgetMs: 30 * MINUTE,
      stallMs: 10 * MINUTE,
      timeoutReason: "ImagePreparationTimedOut",
    },
    { name: "admission", budgetMs: 5 * MINUTE, renewOn: "change" },
  ],
  ceilingMs: 95 * MINUTE,
});

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** The clock of the process, counting what it arms. */
function countingClock() {
  let armed = 0;
  return {
    now: () => systemClock.now(),
    schedule(at, callback, options) {
      armed += 1;
      const timer = systemClock.schedule(at, callback, options);
      return {
        [Symbol.dispose]() {
          armed -= 1;
          timer[Symbol.dispose]();
        },
      };
    },
    armed: () => armed,
  };
}

/** On-CPU milliseconds of this process: other work on the machine does not count, its collector does. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function heap() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** One round: nanoseconds and bytes each, of `COUNT` things that are made, renewed and thrown away. */
function round({ make, renew, repeat, drop, armed }) {
  const things = new Array(COUNT);
  const empty = heap();
  const start = cpuMs();
  for (let index = 0; index < COUNT; index += 1) things[index] = make(index);
  const made = cpuMs();
  const full = heap();
  const timers = armed();
  const renewing = cpuMs();
  for (let index = 0; index < COUNT; index += 1) renew(things[index]);
  const renewed = cpuMs();
  const before = heap();
  const repeating = cpuMs();
  for (let index = 0; index < COUNT; index += 1) repeat(things[index]);
  const repeated = cpuMs();
  const kept = heap() - before;
  const dropping = cpuMs();
  for (let index = 0; index < COUNT; index += 1) drop(things[index]);
  const end = cpuMs();
  const each = (ms) => (ms * 1e6) / COUNT;
  return {
    createNs: each(made - start),
    bytes: (full - empty) / COUNT,
    timers,
    progressNs: each(renewed - renewing),
    duplicateNs: each(repeated - repeating),
    duplicateBytes: kept / COUNT,
    cancelNs: each(end - dropping),
  };
}

function slipway() {
  const clock = countingClock();
  const timers = new TimerQueue(clock);
  return round({
    make: (index) => PhasedDeadline.start(plan, { attempt: `attempt-${index}`, clock, timers }),
    renew: (deadline) => deadline.progress({ step: "download", position: 1 }),
    repeat: (deadline) => deadline.progress({ step: "download", position: 1 }),
    drop: (deadline) => deadline[Symbol.dispose](),
    armed: clock.armed,
  });
}

/** What people write by hand: one host timer each, cleared and set anew when there is progress. */
function rawTimers() {
  const live = new Set();
  const arm = (thing) =>
    (thing.timer = setTimeout(() => live.delete(thing), Math.min(thing.stallMs, thing.leftMs)));
  return round({
    make: (index) => {
      const thing = {
        stallMs: 10 * MINUTE,
        leftMs: 30 * MINUTE + (index % 1000),
        timer: undefined,
        position: 0,
      };
      live.add(thing);
      arm(thing);
      return thing;
    },
    renew: (thing) => {
      clearTimeout(thing.timer);
      thing.position = 1;
      arm(thing);
    },
    repeat: (thing) => {
      if (thing.position < 1) arm(thing);
    },
    drop: (thing) => {
      clearTimeout(thing.timer);
      live.delete(thing);
    },
    armed: () => live.size,
  });
}

const contestants = { slipway, "setTimeout each": rawTimers };
const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
for (const contest of Object.values(contestants)) contest();
for (let index = 0; index < ROUNDS; index += 1) {
  for (const [name, contest] of Object.entries(contestants)) results[name].push(contest());
}

const summary = Object.fromEntries(
  Object.entries(results).map(([name, rounds]) => [
    name,
    Object.fromEntries(
      Object.keys(rounds[0]).map((key) => [key, Math.round(median(rounds.map((r) => r[key])))]),
    ),
  ]),
);

if (json) console.log(JSON.stringify({ node: process.version, count: COUNT, rounds: ROUNDS, ...summary }));
else {
  console.log(
    `${COUNT} live deadlines, Node ${process.versions.node}, on-CPU time, median of ${ROUNDS} rounds`,
  );
  console.table(summary);
}
