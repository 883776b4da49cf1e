/**
 * What an unchanged `setCondition` and a match cost, against the least that finds out that nothing changed; and whether
 * comparing catalogs grows no faster than they do.
 *
 *   npm run build && node bench/conditions.mjs [--json]
 */
import {
  compareCatalogs,
  convertConditions,
  matchesReason,
  sandboxReasons,
  setCondition,
} from "slipway/conditions";
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
/** A catalog of so many reasons; every word belongs to the reason `shift` places before the one it is numbered after. */
function catalogOf(count, shift) {
  const at = (index) => (index + shift) % count;
  const reason = (index) => ({
    types: ["Ready"],
    class: "transient",
    summary: "One of many.",
    sources: [{ backend: `backend-${index % 6}`, raw: [`Word${at(index)}A`, `Word${index}B`] }],
  });
  const numbers = Array.from({ length: count }, (_, index) => index);
  const gone = (index) => [
    `Gone${index}`,
    { retiredIn: 2, replacedBy: `Reason${index}`, class: "transient" },
  ];
  return {
    name: "many",
    contract: 2,
    types: { Ready: { polarity: "positive", presence: "always", summary: "It can be used." } },
    reasons: Object.fromEntries(numbers.map((index) => [`Reason${index}`, reason(index)])),
    retired: Object.fromEntries(numbers.slice(0, count / 10).map(gone)),
    emits: numbers.map((index) => ({
      operation: `operation-${index % 50}`,
      cause: `cause-${index}`,
      type: "Ready",
      reason: `Reason${index}`,
    })),
  };
}

const comparing = (count) => {
  const [before, after] = [catalogOf(count, 0), catalogOf(count, 1)];
  return () =>
    perOperation(count, () => {
      if (compareCatalogs(before, after).length < count) throw new Error("words moved unseen");
    });
};

const contenders = Object.fromEntries(
  Object.entries(operations).map(([name, [operation, count]]) => [name, repeat(name, operation, count)]),
);
const ns = await interleave(contenders, { rounds: ROUNDS });
const each = await interleave({ few: comparing(500), many: comparing(4000) }, { rounds: 5 });

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
    {
      id: "compare-catalogs",
      figure: "`compareCatalogs`, 4000 reasons whose words all moved, for each",
      unit: "ns",
      values: { slipway: each.many },
      // For each, the same as of a few: the time grows as the catalog does, and not as its square.
      target: { atMost: 2 * each.few, text: "at most twice as for each of 500" },
    },
  ],
});
