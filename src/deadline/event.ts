/** A sign of work from the driver. It raises marks and re-arms the stall limit, never a budget. */
export interface ProgressEvent {
  /** Names the kind of event. */
  readonly type: "progress";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** The phase that the work belongs to; another than the present one is refused as `other-phase`. */
  readonly phase: string;
  /** The step of the phase. Default: the phase as a whole. */
  readonly step?: string | undefined;
  /** A layer, chunk or file with marks of its own. Default: the step as a whole. */
  readonly part?: string | undefined;
  /** How far it has come: a finite number, 0 or more. Only a new maximum counts. Absent: counts once. */
  readonly position?: number | undefined;
  /** The driver's start that reports. A higher one begins the marks anew, a lower one is `stale-run`. */
  readonly run?: number | undefined;
}

/** The gateway's decision that a later phase has begun. */
export interface EnterEvent {
  /** Names the kind of event. */
  readonly type: "enter";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** A phase of the plan after the present one. */
  readonly phase: string;
}

/** A configuration was committed. */
export interface ChangeEvent {
  /** Names the kind of event. */
  readonly type: "change";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Generation of the committed configuration, a safe integer, 0 or more. */
  readonly generation: number;
  /** Digest of its content. Without one the generation stands for the content. */
  readonly digest?: string | undefined;
  /** When it was committed, epoch milliseconds. Default: the instant of the event. */
  readonly committedAt?: number | undefined;
}

/** The admitter refused the recorded configuration. */
export interface RejectEvent {
  /** Names the kind of event. */
  readonly type: "reject";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Generation that was rejected; another than the recorded one is refused as `not-current`. */
  readonly generation: number;
  /** Digest of what was rejected, compared with the recorded one where both are known. */
  readonly digest?: string | undefined;
  /** The admitter's word, kept as the diagnostic. */
  readonly reason?: string | undefined;
  /** The admitter's message for people, kept as the diagnostic. */
  readonly message?: string | undefined;
}

/** Freezes budget and stall; ceilings and parent run on. */
export interface PauseEvent {
  /** Names the kind of event. */
  readonly type: "pause";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Grows with every pause and resume; one that was seen already is a `duplicate`. */
  readonly seq: number;
}

/** Lets a paused budget run again. */
export interface ResumeEvent {
  /** Names the kind of event. */
  readonly type: "resume";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Grows with every pause and resume; one that was seen already is a `duplicate`. */
  readonly seq: number;
}

/** The last phase reached its goal. */
export interface CompleteEvent {
  /** Names the kind of event. */
  readonly type: "complete";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
}

/** Somebody ends the attempt. */
export interface CancelEvent {
  /** Names the kind of event. */
  readonly type: "cancel";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Why, for the record. */
  readonly reason: string;
}

/** Nothing happened but time. */
export interface TickEvent {
  /** Names the kind of event. */
  readonly type: "tick";
}

/** A request for the right to clean up. */
export interface ClaimCleanupEvent {
  /** Names the kind of event. */
  readonly type: "claim-cleanup";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Who asks: a replica, for instance. */
  readonly owner: string;
}

/** The claimed cleanup ended. */
export interface CleanupDoneEvent {
  /** Names the kind of event. */
  readonly type: "cleanup-done";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** The number that the claim was given; another than the present one is refused as `not-owner`. */
  readonly claim: number;
  /** Whether everything is gone. `false` leaves the cleanup pending, for the next claim. */
  readonly ok: boolean;
  /** What went wrong, kept for people. */
  readonly error?: string | undefined;
}

/** An operator accepts that a cleanup cannot be done. */
export interface WaiveCleanupEvent {
  /** Names the kind of event. */
  readonly type: "waive-cleanup";
  /** The fencing token; another than the state's is refused as `stale-attempt`. */
  readonly attempt: string;
  /** Who takes the responsibility. */
  readonly by: string;
  /** Why it cannot be done. */
  readonly reason: string;
}

/**
 * Everything that can happen to a deadline. All but `progress` are the gateway's own decisions and are never taken
 * from a driver's channel.
 *
 * @public
 */
export type DeadlineEvent =
  | ProgressEvent
  | EnterEvent
  | ChangeEvent
  | RejectEvent
  | PauseEvent
  | ResumeEvent
  | CompleteEvent
  | CancelEvent
  | TickEvent
  | ClaimCleanupEvent
  | CleanupDoneEvent
  | WaiveCleanupEvent;
