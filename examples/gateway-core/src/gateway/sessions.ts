import type { Session } from "slipway";

/** A supervisor asks again within a second while its request waits, and at once after each answer. */
const SILENCE_MS = 5000;

/** Supervisors that talk to this process. Evidence that a run lives; that there is none proves nothing. */
export class Sessions {
  readonly #contacts = new Map<string, { readonly instanceId: string; readonly at: number }>();

  note(id: string, instanceId: string, at: number): void {
    this.#contacts.set(id, { instanceId, at });
  }

  of(id: string, now: number): Session | null {
    const contact = this.#contacts.get(id);
    if (contact === undefined) return null;
    if (now - contact.at < SILENCE_MS) return { connected: true, instanceId: contact.instanceId };
    this.#contacts.delete(id);
    return null;
  }

  forget(id: string): void {
    this.#contacts.delete(id);
  }
}
