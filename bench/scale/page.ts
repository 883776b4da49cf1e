import { arch, cpus, platform, totalmem } from "node:os";
import type { Cost, ExpiryResult, SweepResult } from "./measure.js";
import type { NotifyResult } from "./notify.js";
import type { SupervisorsResult } from "./supervisors.js";

export interface StoreResults {
  readonly name: string;
  readonly version: string;
  readonly sweeps: readonly SweepResult[];
  readonly expiry: ExpiryResult;
  readonly plans: readonly { readonly what: string; readonly plan: string }[];
}

/** One of the measurements, with when and under what load it was made. */
export interface ScalePart {
  readonly store?: StoreResults;
  readonly notify?: NotifyResult;
  readonly supervisors?: SupervisorsResult;
  readonly name?: string;
  readonly date?: string;
  readonly loads?: readonly number[];
  readonly seconds?: number;
}

const table = (rows: readonly (readonly (string | number)[])[]): string => {
  const [head = [], ...body] = rows.map((row) => `| ${row.join(" | ")} |`);
  return [head, `|${"---|".repeat(rows[0]?.length ?? 0)}`, ...body].join("\n");
};
const whole = (value: number): string =>
  Number.isFinite(value) ? String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ") : "–";
const each = (value: number, of: number): string => whole((value * 1000) / of);

/** The page of results. Pure but for the machine that it names. */
export function page(parts: readonly ScalePart[]): string {
  const [cpu] = cpus();
  const machine = `${cpu?.model.trim() ?? ""}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${arch()}`;
  const surroundings = table([
    ["", ""],
    ["machine", machine],
    ["Node", process.versions.node],
    ["databases", parts.flatMap(({ store }) => store?.version ?? []).join(", ")],
  ]);
  const measured = table([
    ["part", "date", "load average meanwhile, other work on the machine included", "took"],
    ...parts.map(({ name = "", date = "", loads = [], seconds = 0 }) => [
      name,
      date,
      `${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)} on ${cpus().length} cores`,
      `${Math.round(seconds)} s`,
    ]),
  ]);
  return [
    "# A gateway over many sandboxes",
    "Written by `node bench/scale.mjs`: one gateway process over a driver that answers at once, and its database on the same machine. PostgreSQL runs without flushing, except where notifications are measured. On a machine with other work wall times and lateness are upper bounds; CPU times and counts travel better. What they come to for more sandboxes is in [the page on capacity](../docs/capacity.md).",
    surroundings,
    measured,
    ...parts.flatMap(({ store }) => (store === undefined ? [] : section(store))),
    ...parts.flatMap(({ supervisors }) =>
      supervisors === undefined ? [] : [supervisorSection(supervisors)],
    ),
    ...parts.flatMap(({ notify }) => (notify === undefined ? [] : notifySection(notify))),
    "",
  ].join("\n\n");
}

function section({ name, sweeps, expiry, plans }: StoreResults): string[] {
  const { due, lateness, expiredMs, cleanedMs, cost, failures } = expiry;
  const failed = Object.entries(failures).map(([event, count]) => `${event} ${count}`);
  return [
    `## ${name}`,
    "A gateway comes up over so many sandboxes that run, and sweeps over them; nothing has changed.",
    table([
      [
        "records",
        "coming up: wall ms",
        "gateway CPU ms",
        "a sweep: wall ms",
        "gateway CPU ms",
        "database CPU ms",
        "transactions",
        "CPU µs a record, both",
        "heap bytes a record",
        "stored bytes a record",
      ],
      ...sweeps.map(sweepRow),
    ]),
    `${whole(due)} more deadlines pass within ten seconds, evenly, and every attempt is cleaned up.`,
    table([
      ["figure", ""],
      [
        "lateness of an expiry, p50 / p99 / most",
        `${whole(lateness.p50)} / ${whole(lateness.p99)} / ${whole(lateness.max)} ms`,
      ],
      ["from the first deadline to the last expiry", `${whole(expiredMs)} ms`],
      ["from the first deadline to the last cleanup", `${whole(cleanedMs)} ms`],
      ["database, in that time", databaseWords(cost, due)],
      [
        "gateway CPU, in that time",
        `${whole(cost.gatewayCpuMs)} ms, ${each(cost.gatewayCpuMs, due)} µs an expiry with its cleanup`,
      ],
      ["statements of the gateway", statementWords(expiry)],
      ["what failed and was done again", failed.length === 0 ? "nothing" : failed.join(", ")],
    ]),
    ...(plans.length === 0
      ? []
      : [
          table([
            ["query", "how the database goes about it"],
            ...plans.map(({ what, plan }) => [what, plan]),
          ]),
        ]),
  ];
}

function sweepRow({ records, start, sweep, heapEach, bytesEach }: SweepResult): string[] {
  const database = Number.isFinite(sweep.cpuMs) ? sweep.cpuMs : 0;
  return [
    whole(records),
    whole(start.wallMs),
    whole(start.gatewayCpuMs),
    whole(sweep.wallMs),
    whole(sweep.gatewayCpuMs),
    whole(sweep.cpuMs),
    whole(sweep.transactions),
    each(sweep.gatewayCpuMs + database, records),
    whole(heapEach),
    whole(bytesEach),
  ];
}

function statementWords({ asked, due }: ExpiryResult): string {
  const words = Object.entries(asked).map(([text, count]) => `${(count / due).toFixed(1)} \`${text}…\``);
  return words.length === 0 ? "not counted" : `an expiry: ${words.join(", ")}`;
}

function databaseWords({ transactions, cpuMs, wallMs }: Cost, due: number): string {
  if (!Number.isFinite(transactions)) return "in the gateway's own process";
  const rate = (transactions * 1000) / wallMs;
  return `${whole(transactions)} transactions (${(transactions / due).toFixed(1)} an expiry, ${whole(rate)} a second), ${whole(cpuMs)} ms CPU`;
}

function supervisorSection({ supervisors, untold, told }: SupervisorsResult): string {
  return [
    "## What supervisors cost that wait for news",
    `${whole(supervisors)} of them on PostgreSQL, each with a question that is held for 20 seconds and then put again; nothing happens meanwhile. Counted over two rounds.`,
    table([
      ["reads of records", "a second", "a supervisor, in a second"],
      [
        "where nobody tells of writes: a look each second",
        untold.toFixed(1),
        (untold / supervisors).toFixed(3),
      ],
      [
        "where the store does: news, and a look with each question",
        told.toFixed(1),
        (told / supervisors).toFixed(3),
      ],
    ]),
  ].join("\n\n");
}

function notifySection({ told, within, silent }: NotifyResult): string {
  return [
    "## What notifications cost",
    "Writes of 2 kB from 16 connections to a server that flushes each of them. A transaction that notifies holds a lock that the server has once until it is flushed, so such transactions commit one after another; the store tells of a write after it, of many at once.",
    table([
      ["writes", "a second"],
      ["each is told after it, as the store does", whole(told)],
      ["each is told in its own transaction", whole(within)],
      ["none is told", whole(silent)],
    ]),
  ].join("\n\n");
}
