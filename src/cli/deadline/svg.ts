import { clip } from "../../errors.js";
import { showDuration, ticksOf } from "./duration.js";
import type { Limit, Mark, Stretch, Timeline } from "./timeline.js";

const WIDTH = 960;
const LEFT = 130;
const RIGHT = 30;
const TOP = 64;
const ROW = 40;
const BAR = 18;
const EVENT_LINE = 16;
const LIMIT_LINE = 18;
/** Rough width of a character of the labels, for keeping them apart. */
const CHARACTER = 6.6;
const LONGEST_LABEL = 48;

const STYLE = `
  svg { font: 12px ui-sans-serif, system-ui, sans-serif; --ink: #1f2328; --quiet: #59636e; --line: #d1d9e0;
    --paper: #fff; --spent: #4078c0; --window: #d8e6f8; --limit: #9a6700; --force: #cf222e; --good: #1a7f37; }
  @media (prefers-color-scheme: dark) { svg { --ink: #f0f6fc; --quiet: #9198a1; --line: #3d444d; --paper: #0d1117;
    --spent: #6ca4f8; --window: #1c3557; --limit: #d29922; --force: #f85149; --good: #3fb950; } }
  .paper { fill: var(--paper); } text { fill: var(--ink); } .quiet { fill: var(--quiet); }
  .title { font-size: 15px; font-weight: 600; } .tick { stroke: var(--line); }
  .window { fill: var(--window); stroke: var(--spent); stroke-dasharray: 4 3; } .spent { fill: var(--spent); }
  .limit { stroke: var(--limit); stroke-dasharray: 2 3; } .limit-label { fill: var(--limit); }
  .force { stroke: var(--force); stroke-width: 2; } .force-label { fill: var(--force); font-weight: 600; }
  .now { stroke: var(--ink); } .mark { stroke: var(--ink); } .progress { stroke: var(--good); }
  .expired { stroke: var(--force); } .completed { stroke: var(--good); }`;

/** A label that has its place: the x it begins at and the line it stands on. */
interface Placed<Item> {
  readonly item: Item;
  readonly x: number;
  readonly anchor: "start" | "end";
  readonly line: number;
}

/**
 * A deadline as a picture: its phases and their windows, what happened, and every limit on one line of time.
 *
 * A whole SVG document that names itself to a screen reader and follows the reader's light or dark scheme.
 *
 * @internal
 */
export function timelineSvg(timeline: Timeline, summary: string): string {
  const { from, until, stretches, marks, limits, state, reading } = timeline;
  const now = Math.max(timeline.now, state.observedAt);
  const scale = (WIDTH - LEFT - RIGHT) / (until - from);
  const x = (at: number): number => round(LEFT + (at - from) * scale);
  const loud = place(
    marks.filter(({ kind }) => kind !== "progress"),
    ({ at }) => x(at),
    ({ label }) => label,
  );
  const rowsEnd = TOP + stretches.length * ROW;
  const eventsEnd = rowsEnd + (countLines(loud) + 1) * EVENT_LINE;
  const placedLimits = place(
    limits,
    ({ at }) => x(at),
    (limit) => limitText(limit, timeline),
  );
  const bottom = eventsEnd + (countLines(placedLimits) + 1) * LIMIT_LINE;
  const height = bottom + 28;
  const title = `Deadline of attempt ${state.attempt}: ${reading.status}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title summary">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="summary">${escape(summary)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="16" y="26">${escape(clip(title, LONGEST_LABEL))}</text>`,
    ...axis(from, until, x, bottom),
    ...stretches.flatMap((stretch, index) => stretchRow(stretch, TOP + index * ROW, x, now)),
    ...progressTicks(marks, x, rowsEnd),
    ...loud.flatMap((placed) => eventMark(placed, rowsEnd, x)),
    ...placedLimits.flatMap((placed) => limitMark(placed, eventsEnd, x, timeline)),
    `<line class="now" x1="${x(now)}" y1="${TOP - 14}" x2="${x(now)}" y2="${bottom}"/>`,
    `<text x="${x(now)}" y="${bottom + 16}" text-anchor="middle">now</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function axis(from: number, until: number, x: (at: number) => number, bottom: number): readonly string[] {
  return ticksOf(until - from).flatMap((offset) => {
    const at = x(from + offset);
    return [
      `<line class="tick" x1="${at}" y1="${TOP - 14}" x2="${at}" y2="${bottom}"/>`,
      `<text class="quiet" x="${at}" y="${TOP - 18}" text-anchor="middle">+${showDuration(offset)}</text>`,
    ];
  });
}

function stretchRow(
  { label, from, until, windowEndsAt }: Stretch,
  top: number,
  x: (at: number) => number,
  now: number,
): readonly string[] {
  const end = until ?? now;
  const text = `<text x="16" y="${top + BAR - 4}">${escape(clip(label, 18))}<title>${escape(label)}</title></text>`;
  const window =
    windowEndsAt === null || windowEndsAt <= from
      ? []
      : [bar("window", x(from), x(windowEndsAt), top, `window of ${showDuration(windowEndsAt - from)}`)];
  return [
    text,
    ...window,
    bar("spent", x(from), x(end), top + 5, `took ${showDuration(end - from)}`, BAR - 10),
  ];
}

function bar(kind: string, from: number, until: number, top: number, title: string, height = BAR): string {
  const width = Math.max(1, round(until - from));
  return `<rect class="${kind}" x="${from}" y="${top}" width="${width}" height="${height}" rx="3"><title>${escape(title)}</title></rect>`;
}

/** One line for each pixel that saw progress: a thousand reports are not a thousand elements. */
function progressTicks(
  marks: readonly Mark[],
  x: (at: number) => number,
  rowsEnd: number,
): readonly string[] {
  const latest = new Map<number, Mark>();
  for (const mark of marks) if (mark.kind === "progress") latest.set(Math.round(x(mark.at)), mark);
  return [...latest].map(
    ([at, { label }]) =>
      `<line class="progress" x1="${at}" y1="${rowsEnd - 14}" x2="${at}" y2="${rowsEnd - 4}"><title>${escape(label)}</title></line>`,
  );
}

function eventMark(
  { item, x: at, anchor, line }: Placed<Mark>,
  top: number,
  x: (at: number) => number,
): string[] {
  const y = top + (line + 1) * EVENT_LINE;
  const where = x(item.at);
  return [
    `<line class="mark ${item.kind}" x1="${where}" y1="${top - 8}" x2="${where}" y2="${y}"/>`,
    `<text x="${at}" y="${y}" text-anchor="${anchor}">${escape(clip(item.label, LONGEST_LABEL))}</text>`,
  ];
}

function limitMark(
  { item, x: at, anchor, line }: Placed<Limit>,
  top: number,
  x: (at: number) => number,
  timeline: Timeline,
): string[] {
  const y = top + (line + 1) * LIMIT_LINE;
  const kind = item.inForce ? "force" : "limit";
  const where = x(item.at);
  return [
    `<line class="${kind}" x1="${where}" y1="${TOP - 14}" x2="${where}" y2="${y}"/>`,
    `<text class="${kind}-label" x="${at}" y="${y}" text-anchor="${anchor}">${escape(limitText(item, timeline))}</text>`,
  ];
}

function limitText({ bound, at, inForce }: Limit, { from, reading }: Timeline): string {
  const role = !inForce ? "" : reading.status === "expired" ? " (expired it)" : " (in force)";
  return `${bound} +${showDuration(at - from)}${role}`;
}

/** Gives every label the first line on which it covers no other. */
function place<Item>(
  items: readonly Item[],
  xOf: (item: Item) => number,
  textOf: (item: Item) => string,
): readonly Placed<Item>[] {
  const taken: [number, number][][] = [];
  return items.map((item) => {
    const width = clip(textOf(item), LONGEST_LABEL).length * CHARACTER;
    const at = xOf(item);
    const anchor = at + 4 + width > WIDTH - 8 ? "end" : "start";
    const x = anchor === "start" ? at + 4 : at - 4;
    const [left, right] = anchor === "start" ? [x, x + width] : [x - width, x];
    let line = 0;
    while (taken[line]?.some(([from, until]) => left < until && right > from) === true) line += 1;
    (taken[line] ??= []).push([left, right]);
    return { item, x: round(x), anchor, line };
  });
}

function countLines(placed: readonly Placed<unknown>[]): number {
  return placed.reduce((most, { line }) => Math.max(most, line + 1), 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Text for an XML document, which takes no control characters and no half of a surrogate pair. */
function escape(text: string): string {
  return text
    .replace(/\p{Surrogate}|[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/gu, "\uFFFD")
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
