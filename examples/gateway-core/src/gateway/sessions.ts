import type { Clock, Session } from "slipway";
import type { SessionStore } from "../store/session-store.js";
import { messageOf, type Log } from "./log.js";

/** A supervisor asks again at once after each answer, and while its question is held that counts as a word of it. */
const SILENCE_MS = 5000;
/** So often a held question is taken for a word. */
export const STILL_HERE_MS = SILENCE_MS / 2;
/** How long a contact counts for the other gateways. */
const LEASE_MS = 3 * SILENCE_MS;
const SWEEP_EVERY_MS = 60_000;
/** So long after its end a contact is kept: no question is held for that long, and its record may be gone unheard. */
const FORGET_AFTER_MS = 3_600_000;

interface Contact {
  readonly instanceId: string;
  /** Until when the session is taken for alive. */
  readonly until: number;
}

export interface SessionsOptions {
  readonly clock: Clock;
  readonly owner: string;
  readonly log: Log;
  /** Where gateways that share a store tell one another. Absent: there is no other. */
  readonly store?: SessionStore | undefined;
}

/**
 * Supervisors that talk to this gateway, or to another one of the same store. Evidence that a run lives; that there
 * is none proves nothing.
 *
 * What a supervisor says here is written to the store when the lease there has half run out, many at once: a contact
 * is frequent, and its exact instant is of no interest to anybody else.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  /** The latest of each sandbox, also one that has run out: who waited for an answer then may still. */
  readonly #contacts = new Map<string, Contact>();
  readonly #elsewhere = new Map<string, Contact>();
  /** Until when the store has it that a session is here. */
  readonly #kept = new Map<string, Contact>();
  readonly #unkept = new Map<string, Contact>();
  #keeping: Promise<void> | null = null;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** A supervisor of this instance called. */
  note(id: string, instanceId: string, at: number): void {
    this.#contacts.set(id, { instanceId, until: at + SILENCE_MS });
    if (this.#options.store === undefined) return;
    const kept = this.#kept.get(id);
    if (kept?.instanceId === instanceId && kept.until - at > LEASE_MS / 2) return;
    const contact = { instanceId, until: at + LEASE_MS };
    this.#kept.set(id, contact);
    this.#unkept.set(id, contact);
    this.#keeping ??= this.#keep();
  }

  /**
   * The supervisor of this instance, which called a while ago, still waits for an answer. A contact that ran out while
   * this process stood still, or when its clock was set, is taken up again: only another instance that is there ends it,
   * and the end of its record.
   */
  prolong(id: string, instanceId: string, at: number): void {
    if (!this.#contacts.has(id)) return;
    const there = this.of(id, at);
    if (there === null || there.instanceId === instanceId) this.note(id, instanceId, at);
  }

  /** Of how many sandboxes anything is remembered. */
  get size(): number {
    return new Set([...this.#contacts.keys(), ...this.#kept.keys(), ...this.#elsewhere.keys()]).size;
  }

  of(id: string, now: number): Session | null {
    const contact = alive(this.#contacts, id, now) ?? alive(this.#elsewhere, id, now);
    return contact && { connected: true, instanceId: contact.instanceId };
  }

  forget(id: string): void {
    for (const contacts of [this.#contacts, this.#elsewhere, this.#kept, this.#unkept]) contacts.delete(id);
  }

  /** Asks the store who talks to other gateways: of one sandbox, or of all. What it cannot tell now it told before. */
  async refresh(id?: string): Promise<void> {
    const { store, owner, clock, log } = this.#options;
    if (store === undefined) return;
    try {
      const now = clock.now();
      const found = await store.liveSessions(now, id === undefined ? undefined : [id]);
      // In one turn: whoever asks in between would take every supervisor of another gateway for silent.
      if (id === undefined) this.#elsewhere.clear();
      for (const session of found) {
        if (session.owner !== owner) this.#elsewhere.set(session.id, session);
      }
      if (id === undefined) await this.#sweep(store, now);
    } catch (error) {
      log("sessions-unknown", { error: messageOf(error) });
    }
  }

  /** Removes what nobody goes by any more, now and then: the clocks of gateways differ by less than that. */
  async #sweep(store: SessionStore, now: number): Promise<void> {
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const contacts of [this.#contacts, this.#kept])
      for (const [id, { until }] of contacts) if (until < now - FORGET_AFTER_MS) contacts.delete(id);
    await store
      .sweepSessions(now - SWEEP_EVERY_MS)
      .catch((error: unknown) => this.#options.log("sessions-unswept", { error: messageOf(error) }));
  }

  /** Supervisors call another gateway from now on. */
  async close(): Promise<void> {
    const { store, owner, log } = this.#options;
    await this.#keeping;
    await store
      ?.endSessions(owner)
      .catch((error: unknown) => log("sessions-left", { error: messageOf(error) }));
  }

  async #keep(): Promise<void> {
    const { store, owner, log } = this.#options;
    // Whoever calls in the same moment goes into the same statement.
    await Promise.resolve();
    while (this.#unkept.size > 0) {
      const sessions = [...this.#unkept].map(([id, contact]) => ({ id, owner, ...contact }));
      this.#unkept.clear();
      await store?.keepSessions(sessions).catch((error: unknown) => {
        // The next contact tries again.
        for (const { id } of sessions) this.#kept.delete(id);
        log("sessions-unkept", { error: messageOf(error) });
      });
    }
    this.#keeping = null;
  }
}

function alive(contacts: Map<string, Contact>, id: string, now: number): Contact | null {
  const contact = contacts.get(id);
  return contact !== undefined && now < contact.until ? contact : null;
}
