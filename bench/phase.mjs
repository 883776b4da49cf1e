/**
 * What a decision costs, against a switch written by hand that explains nothing, the same behind a zod schema, and the
 * same as an XState machine.
 *
 *   npm run build && node --expose-gc bench/phase.mjs [--json] [--peers FOLDER]
 */
import { derivePhase, observeSandboxResource, phases, reconcileRecord } from "slipway/phase";
import { z } from "zod";
import { heap, interleave, perOperation, publish } from "./harness.mjs";
import { loadPeer, peersFolder } from "./peers.mjs";

const NOW = 1_800_000_000_000;
const ROUNDS = 7;

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

/** As a store and a backend give them, page after page: what was read together lies together. */
const listed = JSON.parse(JSON.stringify(records));
const seen = JSON.parse(JSON.stringify(observations));

const { createMachine, initialTransition, transition } = await loadPeer(peersFolder(), "xstate");

/** The facts that the switch looks at, checked before it looks. */
const Facts = z.object({
  exists: z.boolean().nullable(),
  running: z.boolean().nullable(),
  ready: z.boolean().nullable(),
  readiness: z.string().nullable(),
  workload: z.string().nullable(),
  terminating: z.boolean().nullable(),
  completed: z.boolean().nullable(),
  suspended: z.boolean().nullable(),
  deleting: z.boolean().nullable(),
  stale: z.boolean().nullish(),
  exitCode: z.number().nullable(),
  failureClass: z.string().nullable(),
});

/** The switch's answers as the transitions of a machine: the least that an interpreter of charts does for one. */
const allPhases = [...phases];
const machine = createMachine({
  id: "sandbox",
  initial: "Provisioning",
  states: Object.fromEntries(
    allPhases.map((phase) => [
      phase,
      {
        on: {
          OBSERVED: allPhases.map((target) => ({
            target,
            guard: ({ event }) => byHand(event.record, event.observation) === target,
          })),
        },
      },
    ]),
  ),
});
const snapshots = new Map(
  shapes.map(([phase]) => [
    phase,
    initialTransition(createMachine({ ...machine.config, initial: phase }))[0],
  ]),
);

let sink = 0;
const HOT = 50_000;
const HOT_XSTATE = 2000;
const small = shapes.length * 8;
const contenders = {
  switch: () =>
    perOperation(HOT, () => {
      for (let i = 0; i < HOT; i += 1)
        if (byHand(records[i % small], observations[i % small]) === "Ready") sink += 1;
    }),
  zod: () =>
    perOperation(HOT, () => {
      for (let i = 0; i < HOT; i += 1)
        if (byHand(records[i % small], Facts.parse(observations[i % small])) === "Ready") sink += 1;
    }),
  xstate: () =>
    perOperation(HOT_XSTATE, () => {
      for (let i = 0; i < HOT_XSTATE; i += 1) {
        const record = records[i % small];
        const event = { type: "OBSERVED", record, observation: observations[i % small] };
        const [next] = transition(machine, snapshots.get(record.phase), event);
        if (next.value === "Ready") sink += 1;
      }
    }),
  derive: () =>
    perOperation(HOT, () => {
      for (let i = 0; i < HOT; i += 1) {
        const decision = derivePhase({
          record: records[i % small],
          observation: observations[i % small],
          now: NOW,
        });
        if (decision.phase === "Ready") sink += 1;
      }
    }),
  switchSweep: () =>
    perOperation(SIZE, () => {
      for (let i = 0; i < SIZE; i += 1) if (byHand(listed[i], seen[i]) === "Ready") sink += 1;
    }),
  scatteredSwitchSweep: () =>
    perOperation(SIZE, () => {
      for (let i = 0; i < SIZE; i += 1) if (byHand(records[i], observations[i]) === "Ready") sink += 1;
    }),
  sweep: () => perOperation(SIZE, () => sweep(listed, seen)),
  scatteredSweep: () => perOperation(SIZE, () => sweep(records, observations)),
};

function sweep(all, observed) {
  for (let i = 0; i < SIZE; i += 1) {
    const { record, changed } = reconcileRecord(all[i], observed[i], null, NOW + 60_000);
    if (changed || record !== all[i])
      throw new Error(`record ${i} changed in a sweep in which nothing changed`);
  }
}
const ns = await interleave(contenders, { rounds: ROUNDS });

const before = heap();
const swept = records.map((record, i) => reconcileRecord(record, observations[i], null, NOW + 60_000).record);
const kept = (heap() - before) / SIZE;
if (!swept.every((record, i) => record === records[i])) throw new Error("a sweep made new records");
if (sink < 0) console.log(sink);

const byHandName = "switch by hand";
const ms = (value) => (value * SIZE) / 1e6;
publish({
  title: `Phases, ${shapes.length} situations`,
  figures: [
    {
      id: "derive",
      figure: "phase: a decision, `derivePhase` with its explanation",
      unit: "ns",
      values: {
        slipway: ns.derive,
        [byHandName]: ns.switch,
        "zod, then the switch": ns.zod,
        XState: ns.xstate,
      },
      target: {
        than: byHandName,
        atMost: 0.5 / 0.024,
        text: "at most 21 times a switch (0.5 µs to 0.024 µs)",
      },
    },
    {
      id: "sweep",
      figure: "phase: a sweep of 100 000 unchanged records, `reconcileRecord`",
      unit: "ms",
      values: { slipway: ms(ns.sweep), [byHandName]: ms(ns.switchSweep) },
      target: { atMost: 100, text: "at most 100 ms" },
    },
    {
      id: "sweep-scattered",
      figure: "phase: the same, over records as each reconcile left them in the heap",
      unit: "ms",
      values: { slipway: ms(ns.scatteredSweep), [byHandName]: ms(ns.scatteredSwitchSweep) },
    },
    {
      id: "sweep-kept",
      figure: "phase: kept after the sweep, a record (8 bytes are this benchmark's own array)",
      unit: "B",
      values: { slipway: kept },
      target: { atMost: 8.5, text: "nothing kept" },
    },
  ],
});
