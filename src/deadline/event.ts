/** A sign of work from the driver. It raises marks and re-arms the stall limit, never a budget. */
export interface ProgressEvent {
  readonly type: "progress";
  readonly attempt: string;
  readonly phase: string;
  readonly step?: string | undefined;
  readonly part?: string | undefined;
  readonly position?: number | undefined;
  readonly run?: number | undefined;
}

/** The gateway's decision that a later phase has begun. */
export interface EnterEvent {
  readonly type: "enter";
  readonly attempt: string;
  readonly phase: string;
}

/** A configuration was committed. */
export interface ChangeEvent {
  readonly type: "change";
  readonly attempt: string;
  readonly generation: number;
  readonly digest?: string | undefined;
  readonly committedAt?: number | undefined;
}

/** The admitter refused the recorded configuration. */
export interface RejectEvent {
  readonly type: "reject";
  readonly attempt: string;
  readonly generation: number;
  readonly digest?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Freezes budget and stall; ceilings and parent run on. */
export interface PauseEvent {
  readonly type: "pause";
  readonly attempt: string;
  readonly seq: number;
}

/** Lets a paused budget run again. */
export interface ResumeEvent {
  readonly type: "resume";
  readonly attempt: string;
  readonly seq: number;
}

/** The last phase reached its goal. */
export interface CompleteEvent {
  readonly type: "complete";
  readonly attempt: string;
}

/** Somebody ends the attempt. */
export interface CancelEvent {
  readonly type: "cancel";
  readonly attempt: string;
  readonly reason: string;
}

/** Nothing happened but time. */
export interface TickEvent {
  readonly type: "tick";
}

/** A request for the right to clean up. */
export interface ClaimCleanupEvent {
  readonly type: "claim-cleanup";
  readonly attempt: string;
  readonly owner: string;
}

/** The claimed cleanup ended. */
export interface CleanupDoneEvent {
  readonly type: "cleanup-done";
  readonly attempt: string;
  readonly claim: number;
  readonly ok: boolean;
  readonly error?: string | undefined;
}

/** An operator accepts that a cleanup cannot be done. */
export interface WaiveCleanupEvent {
  readonly type: "waive-cleanup";
  readonly attempt: string;
  readonly by: string;
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
