import {
  allowedOperations,
  phaseRules,
  reconcileRecord,
  type AllowedOperations,
  type Observation,
  type PhaseDecision,
  type SandboxRecord,
} from "../phase/index.js";
import { onlyFile, parseArguments, readInput } from "./arguments.js";
import { EXIT_OK, UsageError, type Command, type CommandIo } from "./command.js";
import { kinds, type ExplainedObject } from "./explain-kinds.js";
import { assumedRecord, readRecord } from "./explain-record.js";
import { parseJson, saidOf, sourceName } from "./json-input.js";
import { momentOf } from "./moment.js";

const usage = `usage: slipway explain <${[...kinds.keys()].join("|")}> [FILE|-] [--record FILE] [--at TIME] [--json]

Says which phase the objects of a backend mean, why, and what may be done next. Reads what the backend prints, for
instance \`docker inspect NAME | slipway explain docker\`; several objects are explained one by one.
A list that holds no pod proves nothing about a Sandbox's pods; give them apart as { sandbox, pods } to show that there
are none.

  --record FILE  the gateway's record of the sandbox (JSON); without it nothing is assumed but the wish to run
  --at TIME      the moment to decide at, RFC 3339 with its zone or epoch milliseconds; default: now
  --json         the whole decision as JSON`;

/** @internal */
export const explainCommand: Command = {
  name: "explain",
  summary: "raw backend JSON -> phase, reason, gates and the explanation",
  usage,
  run: explain,
};

const options = { record: "a file", at: "a time", json: null } as const;

interface Explanation extends ExplainedObject {
  readonly record: SandboxRecord;
  readonly assumed: boolean;
  readonly decision: PhaseDecision;
  readonly gates: AllowedOperations;
}

function explain(args: readonly string[], io: CommandIo): number {
  const given = parseArguments(args, options);
  const [name, ...files] = given.positional;
  const known = [...kinds.keys()].join(", ");
  if (name === undefined) throw new UsageError(`expected a kind (${known}), found nothing`);
  const kind = kinds.get(name);
  if (kind === undefined) throw new UsageError(`expected one of ${known}, found ${JSON.stringify(name)}`);
  const { record: recordFile, at, json } = given.options;
  const file = onlyFile(files);
  const now = momentOf(at, io);
  const record = recordFile === undefined ? assumedRecord : recordIn(io, recordFile);
  const where = sourceName(file);
  const read = saidOf(where, () =>
    kind.read(parseJson(readInput(io, file), file, kind.expects), { record, now }),
  );
  const { none } = kind;
  const objects =
    read.length === 0 && none !== undefined && recordFile !== undefined ? [none({ record, now })] : read;
  if (objects.length === 0) {
    const hint = none === undefined ? "" : ": there is no such container, which --record FILE explains";
    throw new UsageError(`expected ${kind.expects}, found an empty list in ${where}${hint}`);
  }
  const explanations = objects.map((object) => decide(object, record, recordFile === undefined, now));
  if (json !== undefined) {
    const plain = explanations.map((one) => ({ kind: name, ...one }));
    io.print(JSON.stringify(plain.length === 1 ? plain[0] : plain, null, 2));
  } else
    explanations.forEach((one, index) => {
      if (index > 0) io.print("");
      for (const line of describe(one, name)) io.print(line);
    });
  return EXIT_OK;
}

function recordIn(io: CommandIo, file: string): SandboxRecord {
  return saidOf(sourceName(file), () => readRecord(readInput(io, file), file));
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
    row("message", decision.message === "" ? "(none)" : decision.message),
    ...backendRow(observation),
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

/** The backend's own words, as it spelled them: whoever knows the backend looks for these. */
function backendRow({ backendReason, message }: Observation): readonly string[] {
  const words = [backendReason, message].filter((word) => word !== null && word !== "");
  return words.length === 0 ? [] : [row("backend", words.join(": "))];
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
