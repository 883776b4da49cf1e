import type { DeadlineState } from "../../deadline/index.js";
import { show } from "../../errors.js";
import { decodeDeadlineState } from "../../schema/index.js";
import { onlyFile, parseArguments, readInput } from "../arguments.js";
import { type Command, type CommandIo, EXIT_OK, UsageError } from "../command.js";
import { parseJson, saidOf, sourceName } from "../json-input.js";
import { momentOf } from "../moment.js";
import { timelineSvg } from "./svg.js";
import { timelineText } from "./text.js";
import { timelineOf, type Timeline } from "./timeline.js";

const usage = `usage: slipway deadline [FILE|-] [--at TIME] [--svg | --json]

Shows a persisted deadline: its phases, the limit in force and every other one, and what is left. FILE holds the state
as a gateway keeps it, or a record with the state in its field "deadline". Several versions of one attempt, a list or
one after the other, show renewals and progress between them.

  --at TIME  the moment to read it at, RFC 3339 with its zone or epoch milliseconds; default: now
  --svg      a picture (SVG) of the windows, limits and events on one line of time
  --json     what there is to read, as JSON`;

const options = { at: "a time", svg: null, json: null } as const;

const YEAR_MS = 365 * 86_400_000;

const EXPECTS = 'a deadline\'s state, or a record with one in "deadline"';

/**
 * `slipway deadline`.
 *
 * @internal
 */
export const deadlineCommand: Command = {
  name: "deadline",
  summary: "a persisted deadline as text, or as a picture of its windows",
  usage,
  run: showDeadline,
};

function showDeadline(args: readonly string[], io: CommandIo): number {
  const { positional, options: given } = parseArguments(args, options);
  if (given.svg !== undefined && given.json !== undefined)
    throw new UsageError("expected --svg or --json, found both");
  const file = onlyFile(positional);
  const now = momentOf(given.at, io);
  const value = parseJson(readInput(io, file), file, EXPECTS);
  const timeline = saidOf(sourceName(file), () => timelineOf(versionsIn(value), now));
  if (given.at !== undefined) expectPlausible(now, timeline);
  if (given.svg !== undefined)
    io.print(timelineSvg(timeline, timelineText(timeline).slice(1, 7).join("; ")).trimEnd());
  else if (given.json !== undefined) io.print(JSON.stringify(plain(timeline), null, 2));
  else for (const line of timelineText(timeline)) io.print(line);
  return EXIT_OK;
}

/** Epoch seconds that were typed for milliseconds are an instant of 1970, at which no limit is near. */
function expectPlausible(at: number, { from }: Timeline): void {
  if (at >= from - YEAR_MS) return;
  const [given, started] = [at, from].map((instant) => new Date(instant).toISOString());
  throw new UsageError(
    `expected a time at most a year before the attempt started (${started}) after --at, found ${given}: a number is milliseconds`,
  );
}

/** JSON has no infinity: an unlimited deadline has no remaining time to name. */
function plain({ attempt, now, state, stretches, marks, limits, reading }: Timeline): object {
  const { remainingMs, ...rest } = reading;
  return {
    attempt,
    readAt: Math.max(now, state.observedAt),
    reading: { ...rest, remainingMs: Number.isFinite(remainingMs) ? remainingMs : null },
    stretches,
    limits,
    events: marks,
  };
}

/** The versions of one attempt, oldest first and each once. */
function versionsIn(value: unknown): readonly [DeadlineState, ...DeadlineState[]] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const byVersion = new Map<number, DeadlineState>();
  for (const entry of list) {
    const state = decodeDeadlineState(stateIn(entry));
    byVersion.set(state.version, state);
  }
  const [first, ...later] = [...byVersion.values()].sort((one, other) => one.version - other.version);
  if (first === undefined) throw new UsageError(`expected ${EXPECTS}, found an empty list`);
  const other = later.find(({ attempt }) => attempt !== first.attempt);
  if (other !== undefined)
    throw new UsageError(
      `expected versions of one attempt, found ${show(first.attempt)} and ${show(other.attempt)}`,
    );
  return [first, ...later];
}

function stateIn(entry: unknown): unknown {
  for (let at = entry, depth = 0; depth < 4; depth += 1) {
    if (typeof at !== "object" || at === null) break;
    if ("plan" in at) return at;
    if ("deadline" in at) at = at.deadline;
    else if ("record" in at) at = at.record;
    else break;
  }
  throw new UsageError(`expected ${EXPECTS}, found ${show(entry)}`);
}
