import { invalid, type Fault } from "../errors.js";
import { MAX_NAME_LENGTH, MAX_REASON_LENGTH } from "./limits.js";

/**
 * One phase of a plan and the time it may take.
 *
 * @public
 */
export interface PhasePlan {
  /** Name of the phase, unique in its plan, for instance `preparation`. */
  readonly name: string;
  /** Time the phase may take, counted from its entry. Absent means unlimited. */
  readonly budgetMs?: number | undefined;
  /** `change`: a real committed change, or the first rejection of one, opens a new window. Absent: fixed. */
  readonly renewOn?: "change" | undefined;
  /**
   * Longest silence without new progress: one number, armed at the entry, or one per step, armed at the first
   * listed step. Absent means that silence is no fault.
   */
  readonly stallMs?: number | Readonly<Record<string, number>> | undefined;
  /** Absolute limit from the phase's entry, whatever renews it. */
  readonly ceilingMs?: number | undefined;
  /** The condition reason published when this phase expires. Default `ProvisioningTimedOut`. */
  readonly timeoutReason?: string | undefined;
}

/**
 * What a caller writes to {@link definePlan}. All times are integer milliseconds.
 *
 * @public
 */
export interface PlanDefinition {
  /** The phases in the order in which an attempt goes through them; at least one. */
  readonly phases: readonly PhasePlan[];
  /** Absolute limit from the start of the attempt, whatever happens. Absent means none. */
  readonly ceilingMs?: number | undefined;
  /** A ceiling below the sum of the budgets, which takes time from later phases, is meant. Default `false`. */
  readonly ceilingMayTruncate?: boolean | undefined;
  /** Time that one cleanup may take, and the longest lease of a claim. Default 30 000. */
  readonly cleanupBudgetMs?: number | undefined;
  /** A tick records the time it saw when the recorded one is older than this. Default 30 000. */
  readonly observeEveryMs?: number | undefined;
}

/**
 * A checked phase, with its defaults filled in.
 *
 * @public
 */
export interface DeadlinePhase extends PhasePlan {
  readonly timeoutReason: string;
}

/**
 * A checked, frozen plan. An attempt keeps the plan it started with, inside its state.
 *
 * @public
 */
export interface DeadlinePlan extends PlanDefinition {
  readonly phases: readonly DeadlinePhase[];
  readonly cleanupBudgetMs: number;
  readonly observeEveryMs: number;
}

const DEFAULT_TIMEOUT_REASON = "ProvisioningTimedOut";
const DEFAULT_CLEANUP_BUDGET_MS = 30_000;
const DEFAULT_OBSERVE_EVERY_MS = 30_000;

/** The shape of a Kubernetes condition reason, which a timeout reason ends up as. */
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const MAX_PHASES = 64;

const PLAN_FIELDS = ["phases", "ceilingMs", "ceilingMayTruncate", "cleanupBudgetMs", "observeEveryMs"];
const PHASE_FIELDS = ["name", "budgetMs", "renewOn", "stallMs", "ceilingMs", "timeoutReason"];

/** Plans that {@link definePlan} made, so that a start does not check them again. */
const checked = new WeakSet<object>();

/**
 * Checks a plan, fills in its defaults and freezes it.
 *
 * A plan whose ceiling is smaller than the sum of its budgets would silently take time from the later phases, which
 * is how one shared window failed valid images; it is refused unless `ceilingMayTruncate` says that it is meant.
 *
 * @throws {@link SlipwayError} `INVALID_PLAN` naming the field: a number that is not a positive safe integer, a
 * repeated name, a stall longer than its budget, an unknown field, or a ceiling that truncates.
 *
 * @example
 * ```ts
 * import { definePlan } from "slipway";
 *
 * const plan = definePlan({
 *   phases: [
 *     { name: "preparation", budgetMs: 30 * 60_000, timeoutReason: "ImagePreparationTimedOut" },
 *     { name: "admission", budgetMs: 5 * 60_000, renewOn: "change", ceilingMs: 60 * 60_000 },
 *   ],
 *   ceilingMs: 95 * 60_000,
 * });
 * plan.phases[1]?.timeoutReason; // => "ProvisioningTimedOut"
 * ```
 *
 * @public
 */
export function definePlan(definition: PlanDefinition): DeadlinePlan {
  if (isChecked(definition)) return definition;
  for (const fault of planFaults(definition)) {
    throw invalid("INVALID_PLAN", "plan", fault.field, fault.expected, fault.value);
  }
  const plan: DeadlinePlan = Object.freeze({
    phases: Object.freeze(definition.phases.map(resolvePhase)),
    ...present("ceilingMs", definition.ceilingMs),
    ...present("ceilingMayTruncate", definition.ceilingMayTruncate),
    cleanupBudgetMs: definition.cleanupBudgetMs ?? DEFAULT_CLEANUP_BUDGET_MS,
    observeEveryMs: definition.observeEveryMs ?? DEFAULT_OBSERVE_EVERY_MS,
  });
  checked.add(plan);
  return plan;
}

function isChecked(definition: PlanDefinition): definition is DeadlinePlan {
  return typeof definition === "object" && (definition as unknown) !== null && checked.has(definition);
}

function resolvePhase(phase: PhasePlan): DeadlinePhase {
  const { stallMs } = phase;
  return Object.freeze({
    name: phase.name,
    ...present("budgetMs", phase.budgetMs),
    ...present("renewOn", phase.renewOn),
    ...present("stallMs", typeof stallMs === "object" ? Object.freeze({ ...stallMs }) : stallMs),
    ...present("ceilingMs", phase.ceilingMs),
    timeoutReason: phase.timeoutReason ?? DEFAULT_TIMEOUT_REASON,
  });
}

/** An absent field stays absent, also when it was given as `undefined`: JSON would drop it. */
function present<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

/**
 * The faults of anything that claims to be a plan, in reading order. Lazy: the first one is enough to refuse it.
 *
 * @internal
 */
export function* planFaults(plan: unknown): Generator<Fault> {
  if (!isRecord(plan)) {
    yield { field: "", expected: "an object", value: plan };
    return;
  }
  yield* unknownFields(plan, PLAN_FIELDS, "");
  const { phases } = plan;
  if (!Array.isArray(phases) || phases.length === 0 || phases.length > MAX_PHASES) {
    yield { field: "phases", expected: `a list of 1 to ${MAX_PHASES} phases`, value: phases };
    return;
  }
  const names = new Set<unknown>();
  for (const [index, phase] of phases.entries()) {
    const field = `phases[${index}]`;
    yield* phaseFaults(phase, field);
    const name: unknown = isRecord(phase) ? phase["name"] : undefined;
    if (names.has(name)) yield { field: `${field}.name`, expected: "unique in the plan", value: name };
    names.add(name);
  }
  yield* durationFault(plan["ceilingMs"], "ceilingMs");
  yield* durationFault(plan["cleanupBudgetMs"], "cleanupBudgetMs");
  yield* durationFault(plan["observeEveryMs"], "observeEveryMs");
  const truncate = plan["ceilingMayTruncate"];
  if (truncate !== undefined && typeof truncate !== "boolean") {
    yield { field: "ceilingMayTruncate", expected: "a boolean", value: truncate };
  }
  yield* truncationFault(plan, phases);
}

function* truncationFault(plan: Record<string, unknown>, phases: readonly unknown[]): Generator<Fault> {
  const { ceilingMs, ceilingMayTruncate } = plan;
  if (typeof ceilingMs !== "number" || ceilingMayTruncate === true) return;
  const sum = phases.reduce<number>((total, phase) => total + budgetOf(phase), 0);
  if (ceilingMs < sum) {
    const expected = `at least the sum of the budgets (${sum}), or ceilingMayTruncate: true must say that it is meant`;
    yield { field: "ceilingMs", expected, value: ceilingMs };
  }
}

function budgetOf(phase: unknown): number {
  const budget = isRecord(phase) ? phase["budgetMs"] : undefined;
  return typeof budget === "number" ? budget : 0;
}

function* phaseFaults(phase: unknown, field: string): Generator<Fault> {
  if (!isRecord(phase)) {
    yield { field, expected: "an object", value: phase };
    return;
  }
  yield* unknownFields(phase, PHASE_FIELDS, `${field}.`);
  const { name, renewOn, timeoutReason, budgetMs, stallMs } = phase;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) {
    yield { field: `${field}.name`, expected: `a name of 1 to ${MAX_NAME_LENGTH} characters`, value: name };
  }
  yield* durationFault(budgetMs, `${field}.budgetMs`);
  yield* durationFault(phase["ceilingMs"], `${field}.ceilingMs`);
  if (renewOn !== undefined && renewOn !== "change") {
    yield { field: `${field}.renewOn`, expected: `"change" or absent`, value: renewOn };
  }
  if (timeoutReason !== undefined && !isReason(timeoutReason)) {
    const expected = "a condition reason (letter first, then letters, digits, `_`, `,` or `:`)";
    yield { field: `${field}.timeoutReason`, expected, value: timeoutReason };
  }
  if (isRecord(stallMs)) {
    if (Object.keys(stallMs).length === 0) {
      yield {
        field: `${field}.stallMs`,
        expected: "a number or at least one step with its number",
        value: stallMs,
      };
    }
    for (const [step, limit] of Object.entries(stallMs)) {
      if (!isStepName(step)) {
        yield {
          field: `${field}.stallMs.${step}`,
          expected: "the name of a step that can be reported",
          value: limit,
        };
      }
      yield* stallFault(limit, budgetMs, `${field}.stallMs.${step}`);
    }
  } else if (stallMs !== undefined) {
    yield* stallFault(stallMs, budgetMs, `${field}.stallMs`);
  }
}

function* stallFault(limit: unknown, budgetMs: unknown, field: string): Generator<Fault> {
  if (!isDuration(limit)) yield { field, expected: DURATION, value: limit };
  else if (typeof budgetMs === "number" && limit > budgetMs) {
    yield { field, expected: `at most the phase's budgetMs (${budgetMs})`, value: limit };
  }
}

const DURATION = "a positive safe integer of milliseconds";

function* durationFault(value: unknown, field: string): Generator<Fault> {
  if (value !== undefined && !isDuration(value)) yield { field, expected: DURATION, value };
}

function isDuration(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** `__proto__` is a key that copies and parsers of objects lose. */
function isStepName(step: string): boolean {
  return step !== "" && step.length <= MAX_NAME_LENGTH && step !== "__proto__";
}

function isReason(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_REASON_LENGTH && REASON.test(value);
}

function* unknownFields(
  object: Record<string, unknown>,
  known: readonly string[],
  prefix: string,
): Generator<Fault> {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) {
      yield { field: `${prefix}${key}`, expected: `absent (known: ${known.join(", ")})`, value: object[key] };
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
