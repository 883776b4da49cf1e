/**
 * How late deadlines expire among 100 000, against one raw timer each, never early, and what it costs. A fifth of them
 * expires, spread over a few seconds after all were made; the others stay.
 *
 *   npm run build && node bench/lateness.mjs [--json] [COUNT]
 */
import { definePlan, PhasedDeadline, systemClock, TimerQueue } from "slipway";
import { cpuMs, interleave, pick, publish } from "./harness.mjs";

const COUNT = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 100_000);
const HOUR = 3_600_000;
const EXPIRES_ONE_IN = 5;
const FIRST_MS = 2500;
const SPREAD_MS = 3500;
const STEPS = 350;

const budgets = Array.from({ length: STEPS }, (_, index) => FIRST_MS + (index * SPREAD_MS) / STEPS);
const planOf = (budgetMs) => definePlan({ phases: [{ name: "preparation", budgetMs }] });
const plans = budgets.map(planOf);
const longPlan = planOf(HOUR);
const expires = (index) => index % EXPIRES_ONE_IN === 0;
const step = (index) => (index / EXPIRES_ONE_IN) % STEPS;

/** Starts all of them, and gives the lateness of those that were due after the last one was made. */
function expire(start, drop) {
  return new Promise((resolve) => {
    const due = new Float64Array(COUNT);
    const rang = new Float64Array(COUNT);
    const things = new Array(COUNT);
    const expiring = Math.ceil(COUNT / EXPIRES_ONE_IN);
    let left = expiring;
    let began = 0;
    let madeAt = 0;
    const ring = (index) => {
      rang[index] = systemClock.now();
      left -= 1;
      if (left === 0) finish();
    };
    const finish = () => {
      const expireNs = ((cpuMs() - began) * 1e6) / expiring;
      const late = [];
      for (let index = 0; index < COUNT; index += EXPIRES_ONE_IN)
        if (due[index] > madeAt) late.push(rang[index] - due[index]);
      late.sort((a, b) => a - b);
      for (const thing of things) drop(thing);
      resolve({
        expireNs,
        earliest: late[0],
        p50: late[late.length >> 1],
        p99: late[Math.floor(late.length * 0.99)],
        counted: late.length,
      });
    };
    for (let index = 0; index < COUNT; index += 1) {
      const { thing, at } = start(index, ring);
      things[index] = thing;
      due[index] = at;
    }
    madeAt = systemClock.now();
    began = cpuMs();
  });
}

const contenders = {
  slipway: () => {
    const timers = new TimerQueue(systemClock);
    return expire(
      (index, ring) => {
        const plan = expires(index) ? plans[step(index)] : longPlan;
        const thing = PhasedDeadline.start(plan, { attempt: "a", timers });
        if (expires(index)) thing.on("expired", () => ring(index));
        return { thing, at: thing.state.windowEndsAt };
      },
      (thing) => thing[Symbol.dispose](),
    );
  },
  "setTimeout each": () =>
    expire((index, ring) => {
      const budget = expires(index) ? budgets[step(index)] : HOUR;
      const now = systemClock.now();
      return { thing: setTimeout(ring, budget, index), at: now + budget };
    }, clearTimeout),
};
const results = await interleave(contenders, { rounds: 3, warmUp: false });
if (results.slipway.counted === 0) throw new Error("Everything was due before all deadlines were made");
const early = results.slipway.earliest;

publish({
  title: `Expiry, ${COUNT} live, one in ${EXPIRES_ONE_IN} expires within ${SPREAD_MS / 1000} s`,
  figures: [
    {
      id: "expire",
      figure: "deadline: an expiry, told to a listener",
      unit: "ns",
      values: pick(results, "expireNs"),
    },
    {
      id: "earliest",
      figure: "deadline: earliest, after its instant (negative is early)",
      unit: "ms",
      isSigned: true,
      values: pick(results, "earliest"),
    },
    {
      id: "early",
      figure: "deadline: how early at most",
      unit: "ms",
      values: { slipway: Math.max(-early, 0) },
      target: { atMost: 0, text: "never early" },
    },
    { id: "late-p50", figure: "deadline: lateness, median", unit: "ms", values: pick(results, "p50") },
    { id: "late-p99", figure: "deadline: lateness, p99", unit: "ms", values: pick(results, "p99") },
    {
      id: "late-over",
      figure: "deadline: p99 later than raw timers",
      unit: "ms",
      values: { slipway: results.slipway.p99 - results["setTimeout each"].p99 },
      target: { atMost: 2, text: "within 2 ms" },
    },
  ],
});
