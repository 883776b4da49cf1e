import { EventEmitter } from "eventemitter3";

/** A function that is told of an event. What it throws, or what its promise rejects with, disturbs nobody. */
export type Listener<Payload> = (payload: Payload) => unknown;

interface Wrapped<Payload> extends Listener<Payload> {
  listener?: Listener<Payload>;
}

/**
 * The listeners of one live object. Only its owner can notify. A listener that throws disturbs neither the owner nor
 * the other listeners; the error goes to `onError`.
 *
 * @internal
 */
export class Notifier<Events extends object> {
  readonly #emitter = new EventEmitter();
  readonly #onError: (error: unknown) => void;
  #closed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    if (!this.#closed) this.#emitter.on(event, listener);
  }

  once<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    const wrapped: Wrapped<Events[K]> = (payload) => {
      this.#emitter.off(event, wrapped);
      return listener(payload);
    };
    wrapped.listener = listener;
    this.on(event, wrapped);
  }

  off<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    for (const added of this.#emitter.listeners(event) as Wrapped<Events[K]>[]) {
      if (added === listener || added.listener === listener) {
        this.#emitter.off(event, added);
        return;
      }
    }
  }

  notify<K extends keyof Events & string>(event: K, payload: Events[K]): void {
    for (const listener of this.#emitter.listeners(event) as Listener<Events[K]>[]) {
      if (this.#closed) return;
      try {
        const result = listener(payload);
        if (result instanceof Promise) result.catch(this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Forgets the listeners for good, also those whose turn would be next. */
  close(): void {
    this.#closed = true;
    this.#emitter.removeAllListeners();
  }
}
