/** Which gateway a sandbox's supervisor talks to, and until when that is taken for true. */
export interface StoredSession {
  readonly id: string;
  readonly instanceId: string;
  readonly owner: string;
  readonly until: number;
}

/**
 * Sessions of supervisors, for gateways that share a store: a sandbox is not taken for silent because its supervisor
 * talks to another replica. A lease that ran out is nobody's, and the latest contact decides.
 */
export interface SessionStore {
  /**
   * Takes over or prolongs sessions; one whose lease in the store ends later than the given one is left alone, and so is
   * one of a sandbox that is gone. A session goes with its record.
   */
  keepSessions(sessions: readonly StoredSession[]): Promise<void>;
  /** The sessions of these sandboxes, of all of them without ids, whose lease has not run out. */
  liveSessions(now: number, ids?: readonly string[]): Promise<readonly StoredSession[]>;
  /** Removes sessions whose lease ran out before this instant, whoever left them: a gateway that died, a late word. */
  sweepSessions(before: number): Promise<void>;
  /** Forgets what the owner holds: it ends, and its supervisors will call somebody else. */
  endSessions(owner: string): Promise<void>;
}
