/**
 * What a decision costs, against a switch written by hand that explains nothing.
 *
 *   npm run build && node --expose-gc bench/phase.mjs
 *
 * Figures are medians of interleaved rounds; compare the ratios, not the nanoseconds.
 */
import { derivePhase, observeSandboxResource, reconcileRecord } from "slipway/phase";

const NOW = 1_800_000_000_000;
const ROUNDS = 15;

/** The least code that tells these cases apart: no explanation, no age, no session, no deadline. */
function byHand(record, o) {
  if (o === null || o.exists === null) return record.phase;
  switch (record.desired) {
    case "deleted":
      return o.exists ? "Deleting" : "Deleted";
    case "stopped":
      if (record.phase === "Stopped") return "Stopped";
      return o.running === false && !o.terminating && (o.completed || o.suspended || o.workload === "absent")
        ? "Stopped"
        : "Stopping";
    default:
      if (o.deleting) return "Deleting";
      if (o.exists === false) return record.phase === "Provisioning" ? "Provisioning" : "Error";
      if (record.phase === "Error" || record.phase === "Completed") return record.phase;
      if (o.stale || o.running === null) return record.phase;
      if (o.completed && o.running === false) return o.exitCode === 0 ? "Completed" : "Error";
      if (o.terminating) return "Stopping";
      if (o.failureClass === "terminal") return "Error";
      if (o.suspended && o.running === false && record.phase !== "Starting") return "Stopped";
      if (o.running && (o.ready || o.readiness === "none")) return "Ready";
      return record.phase === "Starting" ? "Starting" : "Provisioning";
  }
}

const facts = observeSandboxResource({
  sandbox: { metadata: { uid: "u" }, spec: { replicas: 1 } },
  pods: { items: [] },
});
const make = (more) => ({ ...facts, workload: "present", observedAt: NOW, ...more });
const shapes = [
  ["Ready", "running", make({ running: true, ready: true, readiness: "signal" })],
  ["Ready", "running", make({ running: true, ready: null, readiness: "none" })],
  ["Provisioning", "running", make({ running: false, ready: false, readiness: "signal" })],
  ["Starting", "running", make({ running: false, ready: null })],
  ["Stopped", "stopped", make({ running: false, ready: false, suspended: true, workload: "absent" })],
  [
    "Error",
    "running",
    make({
      running: false,
      ready: false,
      completed: true,
      exitCode: 1,
      failureReason: "ProcessExited",
      failureClass: "terminal",
    }),
  ],
  [
    "Completed",
    "running",
    make({ running: false, ready: false, completed: true, exitCode: 0, endedBy: "guest" }),
  ],
  ["Stopping", "stopped", make({ running: true, terminating: true, ready: false })],
];

const SIZE = 100_000;
const records = [];
const observations = [];
for (let i = 0; i < SIZE; i += 1) {
  const [phase, desired, observation] = shapes[i % shapes.length];
  const record = { phase, desired, since: 0, reason: null, exitCode: null, finishedAt: null, conditions: [] };
  const seen = { ...observation };
  // Settled: what the first reconcile makes of it is what every later sweep meets.
  records.push(reconcileRecord(record, seen, null, NOW).record);
  observations.push(seen);
}

function perOp(count, work) {
  const before = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - before) / count;
}

let sink = 0;
const HOT = 200_000;
const small = shapes.length * 8;
const contenders = {
  "switch by hand, hot": () =>
    perOp(HOT, () => {
      for (let i = 0; i < HOT; i += 1)
        if (byHand(records[i % small], observations[i % small]) === "Ready") sink += 1;
    }),
  "derivePhase, hot": () =>
    perOp(HOT, () => {
      for (let i = 0; i < HOT; i += 1) {
        const decision = derivePhase({
          record: records[i % small],
          observation: observations[i % small],
          now: NOW,
        });
        if (decision.phase === "Ready") sink += 1;
      }
    }),
  "switch by hand, sweep of 100 000": () =>
    perOp(SIZE, () => {
      for (let i = 0; i < SIZE; i += 1) if (byHand(records[i], observations[i]) === "Ready") sink += 1;
    }),
  "reconcileRecord, sweep of 100 000": () =>
    perOp(SIZE, () => {
      for (let i = 0; i < SIZE; i += 1) {
        const { record, changed } = reconcileRecord(records[i], observations[i], null, NOW + 60_000);
        if (changed || record !== records[i])
          throw new Error(`record ${i} changed in a sweep in which nothing changed`);
      }
    }),
};

const samples = new Map(Object.keys(contenders).map((name) => [name, []]));
for (const work of Object.values(contenders)) work();
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, work] of Object.entries(contenders)) samples.get(name).push(work());

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const figures = new Map([...samples].map(([name, values]) => [name, median(values)]));
for (const [name, ns] of figures) console.log(`${name.padEnd(36)} ${ns.toFixed(0).padStart(6)} ns`);
const ratio = (a, b) => (figures.get(a) / figures.get(b)).toFixed(1);
console.log(
  `derivePhase / switch, hot            ${ratio("derivePhase, hot", "switch by hand, hot").padStart(6)} x`,
);
console.log(
  `reconcileRecord / switch, sweep      ${ratio("reconcileRecord, sweep of 100 000", "switch by hand, sweep of 100 000").padStart(6)} x`,
);

if (typeof globalThis.gc === "function") {
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  const kept = records.map(
    (record, i) => reconcileRecord(record, observations[i], null, NOW + 60_000).record,
  );
  globalThis.gc();
  const grown = process.memoryUsage().heapUsed - before;
  const same = kept.every((record, i) => record === records[i]);
  // The array of references itself is 8 bytes a record.
  console.log(
    `kept after a sweep in which nothing changed: ${(grown / SIZE).toFixed(1)} bytes a record, same references: ${same}`,
  );
}
if (sink < 0) console.log(sink);
