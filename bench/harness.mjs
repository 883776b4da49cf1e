/**
 * What the benchmarks share: on-CPU time, heap after a collection, interleaved rounds with medians, and one shape for
 * what comes out.
 */
import { cpuUsage, memoryUsage, version } from "node:process";

/** On-CPU milliseconds of this process: other work on the machine does not count, its own collector does. */
export function cpuMs() {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Bytes that are still reachable. */
export function heap() {
  if (typeof globalThis.gc !== "function") {
    console.error("Run with --expose-gc: the heap is measured after a collection.");
    process.exit(2);
  }
  for (let turn = 0; turn < 2; turn += 1) globalThis.gc();
  return memoryUsage().heapUsed;
}

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Nanoseconds of CPU for each of `count` turns of a loop that the caller writes, so that it is inlined as in real code. */
export function perOperation(count, work) {
  const before = cpuMs();
  work();
  return ((cpuMs() - before) * 1e6) / count;
}

export async function perOperationAsync(count, work) {
  const before = cpuMs();
  await work();
  return ((cpuMs() - before) * 1e6) / count;
}

/**
 * Runs all contenders in every round, each round beginning with another, after one round to warm up. A contender gives
 * a number or an object of numbers; what comes back is the median of each.
 */
export async function interleave(contenders, { rounds, warmUp = true }) {
  const names = Object.keys(contenders);
  const samples = new Map(names.map((name) => [name, []]));
  if (warmUp) for (const name of names) await contenders[name]();
  for (let round = 0; round < rounds; round += 1)
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(turn + round) % names.length];
      samples.get(name).push(await contenders[name]());
    }
  return Object.fromEntries([...samples].map(([name, values]) => [name, medianOf(values)]));
}

function medianOf(values) {
  const [first] = values;
  if (typeof first === "number") return median(values);
  return Object.fromEntries(
    Object.keys(first).map((key) => [key, median(values.map((value) => value[key]))]),
  );
}

/** One field of what `interleave` gave, of every contender that has it. */
export const pick = (results, field) =>
  Object.fromEntries(
    Object.entries(results)
      .filter(([, result]) => Number.isFinite(result[field]))
      .map(([name, result]) => [name, result[field]]),
  );

/**
 * Whether a figure is within its target. `atMost` limits the figure of `own`; with `than` it limits the ratio to that
 * contender instead, because ratios travel between machines and times do not.
 */
export function judge({ values, own = "slipway", target }) {
  if (target === undefined) return undefined;
  const value = values[own];
  const ratio = target.than === undefined ? undefined : value / values[target.than];
  return { value, ratio, met: (ratio ?? value) <= target.atMost };
}

export function format(value, unit) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  if (unit === "ns" && Math.abs(value) >= 1000) return format(value / 1000, "µs");
  const number = unit === "" ? String(Math.round(value)) : value.toFixed(digits);
  return `${number} ${unit}`.trim();
}

/**
 * Prints the figures as a table, or as one line of JSON with --json. A figure is `{ id, figure, unit, values, own?,
 * target? }`; tables are what has no contenders.
 */
export function publish({ title, figures, tables = [], notes = [] }) {
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify({ title, figures, tables, notes }));
    return;
  }
  console.log(`${title}; on-CPU time, medians of interleaved rounds, Node ${version}`);
  for (const one of figures) {
    const { figure, unit, values, target } = one;
    const verdict = judge(one);
    const parts = Object.entries(values).map(([name, value]) => `${name} ${format(value, unit)}`);
    const met = verdict === undefined ? "" : ` [${target.text}: ${verdict.met ? "met" : "MISSED"}]`;
    console.log(`${figure}: ${parts.join(", ")}${met}`);
  }
  for (const { title: name, rows } of tables) {
    console.log(name);
    console.table(rows);
  }
  for (const note of notes) console.log(note);
}
