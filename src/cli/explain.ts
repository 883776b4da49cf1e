import {
  allowedOperations,
  phaseRules,
  reconcileRecord,
  type AllowedOperations,
  type Observation,
  type PhaseDecision,
  type SandboxRecord,
} from "../phase/index.js";
import { EXIT_OK, UsageError, type Command, type CommandIo } from "./command.js";
import { kinds, type ExplainedObject } from "./explain-kinds.js";
import { assumedRecord, readRecord } from "./explain-record.js";
import { parseJson } from "./json-input.js";

const usage = `usage: slipway explain <${[...kinds.keys()].join("|")}> [FILE|-] [--record FILE] [--at TIME] [--json]

Says which phase the objects of a backend mean, why, and what may be done next. Reads what the backend prints, for
instance \`docker inspect NAME | slipway explain docker\`; several objects are explained one by one.

  --record FILE  the gateway's record of the sandbox (JSON); without it nothing is assumed but the wish to run
  --at TIME      the moment to decide at, RFC 3339 or epoch milliseconds; default: now
  --json         the whole decision as JSON`;

/** @internal */
export const explainCommand: Command = {
  name: "explain",
  summary: "raw backend JSON -> phase, reason, gates and the explanation",
  usage,
  run: explain,
};

interface Arguments {
  readonly kind: string;
  readonly file: string;
  readonly record: string | null;
  readonly at: string | null;
  readonly json: boolean;
}

interface Explanation extends ExplainedObject {
  readonly record: SandboxRecord;
  readonly assumed: boolean;
  readonly decision: PhaseDecision;
  readonly gates: AllowedOperations;
}

function explain(args: readonly string[], io: CommandIo): number {
  const given = parseArguments(args);
  const kind = kinds.get(given.kind);
  if (kind === undefined)
    throw new UsageError(
      `expected one of ${[...kinds.keys()].join(", ")}, found ${JSON.stringify(given.kind)}`,
    );
  const now = given.at === null ? io.now() : instant(given.at);
  const record = given.record === null ? assumedRecord : readRecord(read(io, given.record), given.record);
  const objects = kind.read(parseJson(read(io, given.file), given.file, kind.expects), { record, now });
  if (objects.length === 0)
    throw new UsageError(`expected ${kind.expects}, found an empty list in ${given.file}`);
  const explanations = objects.map((object) => decide(object, record, given.record === null, now));
  if (given.json) {
    const plain = explanations.map((one) => ({ kind: given.kind, ...one }));
    io.print(JSON.stringify(plain.length === 1 ? plain[0] : plain, null, 2));
  } else
    explanations.forEach((one, index) => {
      if (index > 0) io.print("");
      for (const line of describe(one, given.kind)) io.print(line);
    });
  return EXIT_OK;
}

function decide(object: ExplainedObject, record: SandboxRecord, assumed: boolean, now: number): Explanation {
  const { record: after, decision } = reconcileRecord(record, object.observation, null, now);
  const gates = allowedOperations({ record: after, observation: object.observation, by: "user", now });
  return { ...object, record, assumed, decision, gates };
}

function describe(explanation: Explanation, kind: string): string[] {
  const { name, decision, gates, record, observation, assumed } = explanation;
  const rule = phaseRules.find((candidate) => candidate.name === decision.rule);
  const lines = [
    `${name ?? "(unnamed)"} (${kind})`,
    row(
      "phase",
      decision.phase + (decision.stale ? " (rests on the record or on evidence that is behind)" : ""),
    ),
    row("reason", decision.reason),
    row("message", decision.message),
    row(
      "record",
      `${record.phase}, desired ${record.desired}${assumed ? " (assumed: no --record given)" : ""}`,
    ),
    row("rule", `${decision.rule}: ${rule?.condition ?? ""}`),
    row("because", rule?.rationale ?? ""),
  ];
  for (const operation of ["start", "stop", "delete"] as const) {
    const gate = gates[operation];
    lines.push(
      row(operation, gate.allowed ? `allowed (${gate.route})` : `refused: ${gate.reason}. ${gate.message}`),
    );
  }
  lines.push(
    row("used", decision.used.map((fact) => `${fact}=${valueOf(fact, record, observation)}`).join(" ")),
  );
  for (const { fact, value, why } of decision.rejected)
    lines.push(row("rejected", `${fact}=${JSON.stringify(value)}: ${why}`));
  if (decision.effects.length > 0) lines.push(row("effects", decision.effects.join(", ")));
  return lines;
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(9)}${text}`;
}

function valueOf(fact: string, record: SandboxRecord, observation: Observation): string {
  const source: object = fact.startsWith("record.") ? record : observation;
  const key = fact.replace("record.", "");
  const value: unknown = (source as Readonly<Record<string, unknown>>)[key];
  return value === undefined ? "none" : JSON.stringify(value);
}

function parseArguments(args: readonly string[]): Arguments {
  const positional: string[] = [];
  let record: string | null = null;
  let at: string | null = null;
  let json = false;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--json") json = true;
    else if (arg === "--record") record = valueAfter(args, (index += 1), "--record", "a file");
    else if (arg === "--at") at = valueAfter(args, (index += 1), "--at", "a time");
    else if (arg.startsWith("--")) throw new UsageError(`expected --record, --at or --json, found ${arg}`);
    else positional.push(arg);
  }
  const [kind, file = "-", extra] = positional;
  if (kind === undefined)
    throw new UsageError(`expected a kind (${[...kinds.keys()].join(", ")}), found nothing`);
  if (extra !== undefined) throw new UsageError(`expected one file, found ${JSON.stringify(extra)} as well`);
  return { kind, file, record, at, json };
}

function valueAfter(args: readonly string[], index: number, option: string, what: string): string {
  const value = args[index];
  if (value === undefined || value.startsWith("--"))
    throw new UsageError(`expected ${what} after ${option}, found ${value ?? "nothing"}`);
  return value;
}

function read(io: CommandIo, path: string): string {
  try {
    return io.read(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`expected a readable file, found ${JSON.stringify(path)}: ${why}`);
  }
}

function instant(text: string): number {
  const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(at)) return at;
  throw new UsageError(
    `expected a time (RFC 3339 or epoch milliseconds) after --at, found ${JSON.stringify(text)}`,
  );
}
