import { getCondition, type Observation, type Session } from "slipway";
import { PREPARATION } from "../gateway/budgets.js";
import { isComingUp } from "../record/phase.js";
import type { SandboxRecord } from "../record/record.js";
import { withBootstrapped } from "./bootstrapped.js";
import { withCondition } from "./decision.js";
import type { Seen } from "./seen.js";

/** So long after its start a supervisor that has said nothing is worth a word. */
const SILENT_AFTER_MS = 10_000;

const TYPE = "Bootstrapped";
const UNHEARD = { type: TYPE, status: "Unknown", reason: "BootstrapPending" } as const;

const HEARD = { reason: "BootstrapInProgress", message: "The supervisor has reached a gateway." } as const;

/** What is known of a run whose supervisor was started: by a look at its backend, and by its own calls. */
export interface RunNews {
  readonly seen: Seen | null;
  /** Its supervisor calls some gateway, which is no word on where it stands. */
  readonly session: Session | null;
}

/**
 * A supervisor was started and has not been heard of: what its backend shows is all that is known, and is said with it.
 * A backend that shows nothing of the run leaves nothing to say. With instants and no durations, so that waiting writes
 * nothing; how often a backend may change its words is for the pace of the store.
 */
export function withSilence(record: SandboxRecord, { seen, session }: RunNews, now: number): SandboxRecord {
  const { phase, desired, deadline, instance } = record;
  const waits = isComingUp(phase) && desired === "running" && deadline?.status === "active";
  if (!waits || deadline.phase !== PREPARATION || instance === null || instance.launchedAt === null)
    return record;
  if (now - instance.launchedAt < SILENT_AFTER_MS || session?.connected === true) return record;
  if (seen?.instanceId !== instance.id || seen.observation.stale) return record;
  const since = new Date(instance.launchedAt).toISOString();
  const message = `${shown(seen.observation)}; its supervisor was started at ${since} and has not reached a gateway`;
  return withCondition(record, { ...UNHEARD, message }, now);
}

/** The supervisor was heard of: what it says itself counts from here on. */
export function withoutSilence(record: SandboxRecord, now: number): SandboxRecord {
  const found = getCondition(record.conditions, TYPE);
  if (found?.status !== UNHEARD.status || found.reason !== UNHEARD.reason) return record;
  return withBootstrapped(record, "False", HEARD, now);
}

function shown({ running, message }: Observation): string {
  const state = running === null ? "cannot tell whether it runs" : running ? "runs it" : "does not run it";
  const said = message?.trim().replace(/[.;]+$/, "");
  return said === undefined || said === "" ? `The backend ${state}` : said;
}
