import { EventEmitter } from "eventemitter3";

/** A function that is told of an event. */
export type Listener<Payload> = (payload: Payload) => void;

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

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    this.#emitter.on(event, listener);
  }

  once<K extends keyof Events & string>(event: K, listener: Listener<Events[K]>): void {
    const wrapped: Wrapped<Events[K]> = (payload) => {
      this.#emitter.off(event, wrapped);
      listener(payload);
    };
    wrapped.listener = listener;
    this.#emitter.on(event, wrapped);
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
      try {
        listener(payload);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  clear(): void {
    this.#emitter.removeAllListeners();
  }
}
