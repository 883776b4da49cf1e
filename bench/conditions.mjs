/**
 * What an unchanged `setCondition` and a match cost, in nanoseconds a call (best of 101 short rounds, so that another load on the machine is not measured).
 *
 *   npm run build && node bench/conditions.mjs
 */
import { convertConditions, matchesReason, sandboxReasons, setCondition } from "../dist/conditions/index.js";

const now = Date.UTC(2026, 0, 1);
const types = ["ConfigurationReady", "IsolationBackendMatched", "PodScheduled", "Ready", "Suspended"];
const update = (type) => ({
  type,
  status: "False",
  reason: "Starting",
  message: "waiting",
  observedGeneration: 3,
});
const list = types.reduce((known, type) => setCondition(known, update(type), now), []);
const updates = types.map(update);
const mismatch = [
  {
    ...update("Ready"),
    reason: "IsolationBackendMismatch",
    generalReasons: ["ImagePreparationTimedOut"],
    lastTransitionTime: "2026-01-01T00:00:00Z",
  },
];

function measure(name, operation, count = 50_000) {
  let best = Infinity;
  for (let round = 0; round < 101; round++) {
    const start = process.hrtime.bigint();
    let sink = 0;
    for (let index = 0; index < count; index++) if (operation(index)) sink++;
    best = Math.min(best, Number(process.hrtime.bigint() - start) / count);
    if (sink !== count) throw new Error(`${name} gave another answer`);
  }
  console.log(`${name}: ${best.toFixed(1)} ns`);
}

measure(
  "setCondition, unchanged, 5 conditions",
  (index) => setCondition(list, updates[index % 5], now) === list,
);
measure(
  "setCondition, unchanged, freshly built update",
  () => setCondition(list, update("Ready"), now) === list,
);
measure("matchesReason, general reason", () => matchesReason(mismatch[0], "ImagePreparationTimedOut"));
const options = { catalog: sandboxReasons, contract: 1 };
measure("convertConditions, one converted", () => convertConditions(mismatch, options) !== mismatch, 5_000);
measure("convertConditions, five unchanged", () => convertConditions(list, options) === list, 5_000);
