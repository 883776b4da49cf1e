import { EventEmitter } from "eventemitter3";
import { callHook, type OnError } from "./hook.js";

/**
 * A function that is told of an event. What it throws, or what its promise rejects with, disturbs nobody.
 *
 * @public
 */
export type Listener<Payload> = (payload: Payload) => unknown;

interface Wrapped<Payload> extends Listener<Payload> {
  listener?: Listener<Payload>;
}

/**
 * The listeners of one live object. Only its owner can notify. A listener that throws, or whose promise rejects,
 * disturbs neither the owner nor the other listeners; the error goes to `onError`. Costs next to nothing until
 * somebody listens. For the rooms of this package: it is no part of the published surface.
 */
export class Notifier<Events extends { readonly [Name in keyof Events]: unknown }> {
  readonly #onError: OnError;
  #emitter: EventEmitter | undefined;
  #closed = false;

  constructor(onError: OnError) {
    this.#onError = onError;
  }

  on<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    if (!this.#closed) (this.#emitter ??= new EventEmitter()).on(event, listener);
  }

  once<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    const wrapped: Wrapped<Events[K]> = (payload) => {
      this.#emitter?.off(event, wrapped);
      return listener(payload);
    };
    wrapped.listener = listener;
    this.on(event, wrapped);
  }

  off<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    for (const added of this.#listeners(event)) {
      if (added === listener || added.listener === listener) {
        this.#emitter?.off(event, added);
        return;
      }
    }
  }

  /** Whether a notification would reach anybody: what is costly to say need not be said otherwise. */
  hears(event: keyof Events & string): boolean {
    return (this.#emitter?.listenerCount(event) ?? 0) > 0;
  }

  notify<K extends keyof Events & string>(event: K, payload: Events[K]): void {
    for (const listener of this.#listeners(event)) {
      if (this.#closed) return;
      callHook(listener, payload, this.#onError);
    }
  }

  /** Forgets the listeners for good, also those whose turn would be next. */
  close(): void {
    this.#closed = true;
    this.#emitter?.removeAllListeners();
  }

  #listeners<K extends keyof Events & string>(event: K): Wrapped<Events[K]>[] {
    return (this.#emitter?.listeners(event) ?? []) as Wrapped<Events[K]>[];
  }
}
