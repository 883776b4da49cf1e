import type { SandboxRecord } from "../../../examples/gateway-core/src/record/record.js";

/** One committed version of a record, as the database's trigger saw it. */
export interface Version {
  readonly op: "insert" | "update" | "delete";
  readonly version: number;
  /** The database's time at the write, epoch milliseconds. */
  readonly at: number;
  /** `null` for a removal. */
  readonly record: SandboxRecord | null;
}

/** What an answer of the API said of a record. */
export interface AnsweredView {
  readonly version: number;
  readonly phase: string;
  readonly desired: string;
  readonly attempt: number;
  readonly run: number;
  readonly generation: number;
  readonly startPending: boolean;
}

/** A request of a client that was answered. One that was not proves nothing. */
export interface Answer {
  readonly operation: "create" | "update" | "start" | "stop" | "delete" | "read";
  readonly sentAt: number;
  readonly answeredAt: number;
  /** `null`: there is no such sandbox. */
  readonly view: AnsweredView | null;
}

/** A request of a supervisor that a gateway answered. */
export interface Delivery {
  /** The secret of the attempt that it was made with. */
  readonly attempt: string;
  readonly run: number;
  readonly what: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
  /** It was told to start the main process. */
  readonly activate: boolean;
}

/** A main process began. Written by itself. */
export interface WorkloadStart {
  readonly attempt: number;
  readonly run: number;
  /** The host's time, epoch milliseconds. */
  readonly at: number;
}

/** Everything that is known of one sandbox after a run. */
export interface SandboxHistory {
  readonly id: string;
  readonly versions: readonly Version[];
  readonly answers: readonly Answer[];
  readonly deliveries: readonly Delivery[];
  readonly starts: readonly WorkloadStart[];
  readonly end: {
    /** The stored version at the end, `null` when there is no record. */
    readonly version: number | null;
    /** What the sandbox left behind that should be gone. */
    readonly left: readonly string[];
    /** What never came to rest, `null` when everything had settled. */
    readonly restless: string | null;
  };
}

type Rule =
  | "record-lost"
  | "write-lost"
  | "deadline-extended"
  | "expiry-overruled"
  | "expired-early"
  | "attempt-revived"
  | "started-twice"
  | "started-late"
  | "not-cleaned-up"
  | "answer-not-visible"
  | "lease-broken"
  | "stale-credentials-taken"
  | "not-operable";

export interface Violation {
  readonly rule: Rule;
  readonly sandbox: string;
  /** The version at which it shows, `null` when it is not about one. */
  readonly version: number | null;
  readonly detail: string;
}

/** How far the clocks of gateways and database may be apart, and an instant be rounded. */
export const CLOCK_MARGIN_MS = 400;

/** Two versions of a record that follow each other. */
export interface Pair {
  readonly before: Version & { readonly record: SandboxRecord };
  readonly after: Version & { readonly record: SandboxRecord };
}

export function pairsOf({ versions }: SandboxHistory): Pair[] {
  return versions.flatMap((after, index) => {
    const before = versions[index - 1];
    const old = before?.record ?? null;
    if (before === undefined || old === null || after.record === null) return [];
    return [{ before: { ...before, record: old }, after: { ...after, record: after.record } }];
  });
}
