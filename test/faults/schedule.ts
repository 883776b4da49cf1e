import { seededRandom } from "slipway/testing";

export const REPLICAS = 3;
/** Sandboxes that exist at the same time, as far as the schedule knows. */
const LIVE_MAX = 8;
/**
 * Operations in a second that change what runs, at most: a start that is stopped before it came to anything tests
 * little. What a higher rate has beyond that are updates and reads.
 */
const LIFECYCLE_PER_SECOND = 2;
/** A sandbox is updated for a while and then left alone: one that changes all the time is never admitted. */
const BUSY_MS = 5000;
const QUIET_MS = 11_000;

/** How a sandbox comes up: in time, slowly, not at all, or not before its policy is mended. */
const VARIANTS = ["quick", "slow", "stalling", "invalid"] as const;
export type Variant = (typeof VARIANTS)[number];

/** What an update writes: what is there, something new, or what no supervisor takes. */
export type Content = "same" | "valid" | "invalid";
/** Mostly what a supervisor takes, so that most starts come to something. */
const CONTENTS = ["same", "same", "valid", "valid", "valid", "valid", "invalid"] as const satisfies Content[];

export type Operation =
  | { readonly kind: "create"; readonly box: string; readonly variant: Variant }
  | { readonly kind: "update"; readonly box: string; readonly content: Content; readonly value: number }
  | { readonly kind: "start" | "stop" | "delete" | "read"; readonly box: string };

export type Fault =
  /** SIGKILL, and a new process after a while. */
  | { readonly kind: "kill"; readonly replica: number; readonly forMs: number }
  /** SIGSTOP for longer than a lease, of one replica or of all of them. */
  | { readonly kind: "pause"; readonly replicas: readonly number[]; readonly forMs: number }
  | { readonly kind: "database"; readonly mode: "fast" | "immediate"; readonly forMs: number }
  /** Every connection of one replica to the database breaks, and new ones are refused for a while. */
  | { readonly kind: "cut"; readonly replica: number; readonly forMs: number }
  | { readonly kind: "slow"; readonly replica: number; readonly delayMs: number; readonly forMs: number }
  /** A step of one replica's wall clock, against the true time. */
  | { readonly kind: "clock"; readonly replica: number; readonly offsetMs: number }
  /** What supervisors send arrives twice, the second time later; or later and thereby in another order. */
  | { readonly kind: "deliveries"; readonly mode: "duplicate" | "reorder"; readonly forMs: number };

/** A fault as a report counts it. Pure. */
export function nameOf(fault: Fault): string {
  switch (fault.kind) {
    case "pause":
      return fault.replicas.length > 1 ? "pause of all" : "pause of one";
    case "database":
      return `database restart (${fault.mode})`;
    case "deliveries":
      return `deliveries (${fault.mode})`;
    case "clock":
      return fault.offsetMs < 0 ? "clock set back" : "clock set forward";
    default:
      return fault.kind;
  }
}

export interface Step {
  readonly atMs: number;
  readonly operation?: Operation;
  /** The same request goes out twice at once, as one that was sent again does. */
  readonly twice?: boolean;
  readonly fault?: Fault;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly leaseMs: number;
  readonly operationsPerSecond?: number | undefined;
  /** Mean time between two faults. */
  readonly faultEveryMs?: number | undefined;
}

type Random = () => number;

/** Every operation and fault of a run with its instant. The same seed gives the same schedule. Pure. */
export function planSchedule(options: ScheduleOptions): readonly Step[] {
  const { seed, durationMs, leaseMs, operationsPerSecond = 15, faultEveryMs = 3000 } = options;
  const operations = operationSteps(seededRandom(seed), durationMs, operationsPerSecond);
  const faults = faultSteps(seededRandom(seed + 1), durationMs, faultEveryMs, leaseMs);
  return [...operations, ...faults].sort((one, other) => one.atMs - other.atMs);
}

interface Box {
  readonly name: string;
  /** When a time of updates begins, within the turn of busy and quiet. */
  readonly turnMs: number;
}

function isBusy({ turnMs }: Box, atMs: number): boolean {
  return (atMs + turnMs) % (BUSY_MS + QUIET_MS) < BUSY_MS;
}

function operationSteps(random: Random, durationMs: number, perSecond: number): Step[] {
  const steps: Step[] = [];
  const live: Box[] = [];
  const lifecycle = Math.min(0.4, LIFECYCLE_PER_SECOND / perSecond);
  let made = 0;
  const create = (): Operation => {
    made += 1;
    const box = { name: `box-${made}`, turnMs: random() * (BUSY_MS + QUIET_MS) };
    live.push(box);
    return { kind: "create", box: box.name, variant: choose(random, VARIANTS) };
  };
  const remove = (box: Box): Operation => {
    live.splice(live.indexOf(box), 1);
    return { kind: "delete", box: box.name };
  };
  for (let atMs = 0; atMs < durationMs; atMs += (2000 / perSecond) * random()) {
    const changes = random() < lifecycle;
    const dice = random();
    const box = choose(random, live);
    const busy = choose(
      random,
      live.filter((each) => isBusy(each, atMs)),
    );
    let operation: Operation;
    if (box === undefined || live.length < 3 || (changes && dice < 0.16 && live.length < LIVE_MAX))
      operation = create();
    else if (changes)
      operation = dice < 0.88 ? { kind: dice < 0.4 ? "stop" : "start", box: box.name } : remove(box);
    else if (dice < 0.8 && busy !== undefined)
      operation = { kind: "update", box: busy.name, content: choose(random, CONTENTS), value: random() };
    else operation = { kind: "read", box: box.name };
    steps.push({ atMs: Math.round(atMs), operation, twice: random() < 0.1 });
  }
  return steps;
}

function faultSteps(random: Random, durationMs: number, everyMs: number, leaseMs: number): Step[] {
  const steps: Step[] = [];
  let deck: Fault["kind"][] = [];
  for (let atMs = everyMs / 2; atMs < durationMs; atMs += everyMs * (0.5 + random())) {
    // As from a pack of cards: a short run has every kind as well.
    if (deck.length === 0) deck = shuffled(random, KINDS);
    const kind = deck.pop() ?? "kill";
    steps.push({ atMs: Math.round(atMs), fault: makeFault(kind, random, leaseMs) });
  }
  return steps;
}

const KINDS = [
  "kill",
  "kill",
  "pause",
  "pause",
  "database",
  "cut",
  "slow",
  "clock",
  "deliveries",
  "deliveries",
] as const satisfies Fault["kind"][];

function makeFault(kind: Fault["kind"], random: Random, leaseMs: number): Fault {
  const replica = Math.floor(random() * REPLICAS);
  const between = (from: number, to: number): number => Math.round(from + random() * (to - from));
  switch (kind) {
    case "kill":
      return { kind, replica, forMs: between(0, 3000) };
    case "pause": {
      const all = random() < 0.3;
      const replicas = all ? [...Array(REPLICAS).keys()] : [replica];
      return { kind, replicas, forMs: between(leaseMs * 1.1, leaseMs * 2.5) };
    }
    case "database":
      return { kind, mode: random() < 0.5 ? "fast" : "immediate", forMs: between(0, 2000) };
    case "cut":
      return { kind, replica, forMs: between(0, 1500) };
    case "slow":
      return { kind, replica, delayMs: between(20, 300), forMs: between(1000, 4000) };
    case "clock":
      return { kind, replica, offsetMs: between(-7_200_000, 7_200_000) };
    case "deliveries":
      return { kind, mode: random() < 0.5 ? "duplicate" : "reorder", forMs: between(3000, 6000) };
  }
}

function choose<const T>(random: Random, items: readonly [T, ...T[]]): T;
function choose<T>(random: Random, items: readonly T[]): T | undefined;
function choose<T>(random: Random, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)];
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
}
