/**
 * When 100 000 deadlines expire, against one raw timer each: how late, never early, and what it costs. Instants are
 * spread over a few seconds after all of them were made.
 *
 *   npm run build && node bench/lateness.mjs [--json] [COUNT]
 */
import { definePlan, PhasedDeadline, systemClock, TimerQueue } from "slipway";
import { cpuMs, interleave, pick, publish } from "./harness.mjs";

const COUNT = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 100_000);
const FIRST_MS = 3000;
const SPREAD_MS = 3000;
const STEPS = 300;

const plans = Array.from({ length: STEPS }, (_, index) =>
  definePlan({ phases: [{ name: "preparation", budgetMs: FIRST_MS + (index * SPREAD_MS) / STEPS }] }),
);
const budget = (index) => FIRST_MS + ((index % STEPS) * SPREAD_MS) / STEPS;

/** Starts all of them, and gives the lateness of those that were due after the last one was made. */
function expire(start) {
  return new Promise((resolve) => {
    const due = new Float64Array(COUNT);
    const rang = new Float64Array(COUNT);
    let left = COUNT;
    let began = 0;
    let madeAt = 0;
    const ring = (index) => {
      rang[index] = systemClock.now();
      left -= 1;
      if (left === 0) finish();
    };
    const finish = () => {
      const late = [];
      for (let index = 0; index < COUNT; index += 1)
        if (due[index] > madeAt) late.push(rang[index] - due[index]);
      late.sort((a, b) => a - b);
      resolve({
        expireNs: ((cpuMs() - began) * 1e6) / COUNT,
        earliest: late[0],
        p50: late[late.length >> 1],
        p99: late[Math.floor(late.length * 0.99)],
        counted: late.length,
      });
    };
    for (let index = 0; index < COUNT; index += 1) due[index] = start(index, ring);
    madeAt = systemClock.now();
    began = cpuMs();
  });
}

const contenders = {
  slipway: () => {
    const timers = new TimerQueue(systemClock);
    return expire((index, ring) => {
      const deadline = PhasedDeadline.start(plans[index % STEPS], { attempt: "a", timers });
      deadline.on("expired", () => ring(index));
      return systemClock.now() + deadline.remainingMs();
    });
  },
  "setTimeout each": () =>
    expire((index, ring) => {
      const now = systemClock.now();
      setTimeout(ring, budget(index), index);
      return now + budget(index);
    }),
};
const results = await interleave(contenders, { rounds: 3, warmUp: false });
const early = results.slipway.earliest;

publish({
  title: `${COUNT} deadlines that expire`,
  figures: [
    {
      id: "expire",
      figure: "an expiry, told to a listener",
      unit: "ns",
      values: pick(results, "expireNs"),
    },
    {
      id: "earliest",
      figure: "earliest, after its instant (negative is early)",
      unit: "ms",
      values: pick(results, "earliest"),
    },
    {
      id: "early",
      figure: "how early at most",
      unit: "ms",
      values: { slipway: Math.max(-early, 0) },
      target: { atMost: 0, text: "never early" },
    },
    { id: "late-p50", figure: "lateness, median", unit: "ms", values: pick(results, "p50") },
    { id: "late-p99", figure: "lateness, p99", unit: "ms", values: pick(results, "p99") },
    {
      id: "late-over",
      figure: "p99 later than raw timers",
      unit: "ms",
      values: { slipway: results.slipway.p99 - results["setTimeout each"].p99 },
      target: { atMost: 2, text: "within 2 ms" },
    },
  ],
});
