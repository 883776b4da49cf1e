/**
 * Deadlines against raw host timers, Effect and XState, in one run: time, memory and host timers for many live ones.
 *
 *   npm run build && node --expose-gc bench/deadlines.mjs [--json] [--peers FOLDER] [COUNT]
 */
import { definePlan, PhasedDeadline, systemClock, TimerQueue } from "slipway";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, heap, interleave, pick, publish } from "./harness.mjs";
import { loadPeer, peersFolder } from "./peers.mjs";

const COUNT = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 100_000);
/** The others are measured on fewer: a figure for each is what is compared. */
const FEWER = Math.ceil(COUNT / 20);
const ROUNDS = 3;
/** So often each thing is renewed, and told the same again: a deadline hears from its driver all the time. */
const PASSES = 5;

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

/** A collection frees its pages on other threads for a while, which would count as the work of what is timed next. */
async function settledHeap() {
  const bytes = heap();
  await sleep(150);
  return bytes;
}

/** One round: nanoseconds and bytes each, of things that are made, renewed and thrown away. */
async function round({ count = COUNT, make, renew, repeat, drop, armed }) {
  const things = new Array(count);
  const timed = (work, passes = 1) => {
    const start = cpuMs();
    for (let pass = 0; pass < passes; pass += 1)
      for (let index = 0; index < count; index += 1) work(index, pass);
    return ((cpuMs() - start) * 1e6) / (count * passes);
  };
  const renewAt = (index, position) => (things[index] = renew(things[index], position) ?? things[index]);
  const empty = await settledHeap();
  const createNs = timed((index) => (things[index] = make(index)));
  const bytes = ((await settledHeap()) - empty) / count;
  const timers = armed();
  const firstNs = timed((index) => renewAt(index, 1));
  await settledHeap();
  const progressNs = timed((index, pass) => renewAt(index, 2 + pass), PASSES);
  // News of progress is held back for a second, and then each makes the state that is told.
  await sleep(1100);
  const before = await settledHeap();
  const duplicateNs = timed((index) => repeat(things[index], 1 + PASSES), PASSES);
  const duplicateBytes = ((await settledHeap()) - before) / count;
  const cancelNs = timed((index) => drop(things[index]));
  return { createNs, bytes, timers, firstNs, progressNs, duplicateNs, duplicateBytes, cancelNs };
}

function slipway() {
  const clock = countingClock();
  const timers = new TimerQueue(clock);
  return round({
    make: (index) => PhasedDeadline.start(plan, { attempt: `attempt-${index}`, clock, timers }),
    renew: (deadline, position) => void deadline.progress({ step: "download", position }),
    repeat: (deadline, position) => deadline.progress({ step: "download", position }),
    drop: (deadline) => deadline[Symbol.dispose](),
    armed: clock.armed,
  });
}

/** What people write by hand: one host timer each, cleared and set anew when there is progress. */
function rawTimers(again) {
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
    renew: (thing, position) => {
      thing.position = position;
      if (again === "refresh") thing.timer.refresh();
      else {
        clearTimeout(thing.timer);
        arm(thing);
      }
    },
    repeat: (thing, position) => {
      if (thing.position < position) arm(thing);
    },
    drop: (thing) => {
      clearTimeout(thing.timer);
      live.delete(thing);
    },
    armed: () => live.size,
  });
}

const folder = peersFolder();
const [{ Effect }, { createActor, createMachine }] = await Promise.all(
  ["effect", "xstate"].map((name) => loadPeer(folder, name)),
);
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** A fiber that times out. It cannot be renewed: progress is another fiber. A duplicate is not told apart. */
function effects() {
  const bounded = Effect.timeout(Effect.never, 10 * MINUTE);
  const armed = timers();
  return round({
    count: FEWER,
    make: () => Effect.runFork(bounded),
    renew: (fiber) => {
      fiber.interruptUnsafe();
      return Effect.runFork(bounded);
    },
    repeat: () => undefined,
    drop: (fiber) => fiber.interruptUnsafe(),
    armed: () => timers() - armed,
  });
}

const machine = createMachine({
  id: "deadline",
  initial: "preparation",
  context: { position: 0 },
  states: {
    preparation: {
      after: { [10 * MINUTE]: "expired" },
      on: {
        PROGRESS: {
          guard: ({ context, event }) => event.position > context.position,
          target: "preparation",
          reenter: true,
          actions: ({ context, event }) => (context.position = event.position),
        },
      },
    },
    expired: { type: "final" },
  },
});

/** An actor with a delayed transition, which progress enters anew. */
function actors() {
  const armed = timers();
  return round({
    count: FEWER,
    make: () => createActor(machine).start(),
    renew: (actor, position) => void actor.send({ type: "PROGRESS", position }),
    repeat: (actor, position) => actor.send({ type: "PROGRESS", position }),
    drop: (actor) => actor.stop(),
    armed: () => timers() - armed,
  });
}

/**
 * One of each lives throughout, as some always does where there are any. Where none is left, a collection takes the host's
 * notes about the shape of their objects as well, and with these the compiled code: each round would begin by compiling it.
 */
const kept = [
  PhasedDeadline.start(plan, { attempt: "kept", timers: new TimerQueue(systemClock) }),
  Effect.runFork(Effect.timeout(Effect.never, 60 * MINUTE)),
  createActor(machine).start(),
];
kept[0].progress({ step: "download", position: 1 });

const raw = "setTimeout, clear and set";
const results = await interleave(
  {
    slipway,
    [raw]: () => rawTimers("set"),
    "setTimeout, refresh()": () => rawTimers("refresh"),
    Effect: effects,
    XState: actors,
  },
  { rounds: ROUNDS },
);
// Effect has no notion of a duplicate.
results.Effect = { ...results.Effect, duplicateNs: Number.NaN };

publish({
  title: `Deadlines, ${COUNT} live`,
  figures: [
    {
      id: "deadline-create",
      figure: "deadline: to create one",
      unit: "ns",
      values: pick(results, "createNs"),
      target: { than: raw, atMost: 2 / 3, text: "at most 0.67 times raw (2 µs to 3.0 µs)" },
    },
    {
      id: "deadline-bytes",
      figure: "deadline: heap of a live one, with its whole state",
      unit: "B",
      values: pick(results, "bytes"),
      target: { atMost: 1024, text: "at most 1 kB" },
    },
    {
      id: "deadline-timers",
      figure: `deadline: host timers of ${COUNT} (Effect, XState: of ${FEWER})`,
      unit: "",
      values: pick(results, "timers"),
      target: { atMost: 1, text: "one" },
    },
    {
      id: "deadline-first",
      figure: "deadline: the first progress, which begins a step",
      unit: "ns",
      values: pick(results, "firstNs"),
    },
    {
      id: "deadline-progress",
      figure: "deadline: progress that renews",
      unit: "ns",
      values: pick(results, "progressNs"),
      target: { than: raw, atMost: 0.3 / 2.8, text: "at most 0.11 times clear and set (0.3 µs to 2.8 µs)" },
    },
    {
      id: "deadline-duplicate",
      figure: "deadline: progress that is a duplicate",
      unit: "ns",
      values: pick(results, "duplicateNs"),
      target: { atMost: 100, text: "at most 0.1 µs" },
    },
    {
      id: "deadline-duplicate-bytes",
      figure: "deadline: heap that a duplicate keeps",
      isSigned: true,
      unit: "B",
      values: pick(results, "duplicateBytes"),
    },
    {
      id: "deadline-cancel",
      figure: "deadline: to dispose of one",
      unit: "ns",
      values: pick(results, "cancelNs"),
    },
  ],
});
kept[0][Symbol.dispose]();
kept[1].interruptUnsafe();
kept[2].stop();
process.exit();
