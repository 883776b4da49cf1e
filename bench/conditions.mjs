/**
 * What an unchanged `setCondition` and a match cost, against the least that finds out that nothing changed.
 *
 *   npm run build && node bench/conditions.mjs [--json]
 */
import { convertConditions, matchesReason, sandboxReasons, setCondition } from "slipway/conditions";
import { interleave, perOperation, publish } from "./harness.mjs";

const ROUNDS = 15;
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

/** Checks nothing, and knows no field that a newer peer added. */
function byHand(conditions, next) {
  const known = conditions.find((condition) => condition.type === next.type);
  const isSame =
    known !== undefined &&
    known.status === next.status &&
    known.reason === next.reason &&
    known.message === next.message &&
    known.observedGeneration === next.observedGeneration;
  return isSame ? conditions : conditions.map((condition) => (condition === known ? next : condition));
}

const repeat = (name, operation, count) => () =>
  perOperation(count, () => {
    let held = 0;
    for (let index = 0; index < count; index += 1) if (operation(index)) held += 1;
    if (held !== count) throw new Error(`${name} gave another answer`);
  });

const options = { catalog: sandboxReasons, contract: 1 };
const operations = {
  byHand: [(index) => byHand(list, updates[index % 5]) === list, 50_000],
  unchanged: [(index) => setCondition(list, updates[index % 5], now) === list, 50_000],
  fresh: [() => setCondition(list, update("Ready"), now) === list, 50_000],
  matches: [() => matchesReason(mismatch[0], "ImagePreparationTimedOut"), 50_000],
  converted: [() => convertConditions(mismatch, options) !== mismatch, 2000],
  unconverted: [() => convertConditions(list, options) === list, 2000],
};
const contenders = Object.fromEntries(
  Object.entries(operations).map(([name, [operation, count]]) => [name, repeat(name, operation, count)]),
);
const ns = await interleave(contenders, { rounds: ROUNDS });

publish({
  title: "Conditions",
  figures: [
    {
      id: "condition-unchanged",
      figure: "`setCondition` that changes nothing, list of 5",
      unit: "ns",
      values: { slipway: ns.unchanged, "by hand": ns.byHand },
      target: { atMost: 50, text: "at most 50 ns" },
    },
    {
      id: "condition-fresh",
      figure: "the same, with an update built for the call",
      unit: "ns",
      values: { slipway: ns.fresh },
    },
    {
      id: "matches",
      figure: "`matchesReason`, a general reason",
      unit: "ns",
      values: { slipway: ns.matches },
    },
    {
      id: "convert",
      figure: "`convertConditions`, one condition converted",
      unit: "ns",
      values: { slipway: ns.converted },
    },
    {
      id: "convert-none",
      figure: "`convertConditions`, five that need none",
      unit: "ns",
      values: { slipway: ns.unconverted },
    },
  ],
});
