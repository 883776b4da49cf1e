import { EventEmitter } from "eventemitter3";
import { callHook } from "./attempt.js";

type Listener<Value> = (value: Value) => void;

/**
 * Typed events whose listeners cannot hurt: what one throws, or rejects with, reaches neither the others nor the
 * run. Costs nothing until somebody listens.
 */
export class Notifier<Events extends { readonly [Name in keyof Events]: unknown }> {
  readonly #onError: ((error: unknown) => void) | undefined;
  #emitter: EventEmitter | undefined;
  /** The guarded form of each listener, by event, for `off`. */
  #guards: Map<keyof Events, Map<unknown, Listener<unknown>>> | undefined;

  constructor(onError: ((error: unknown) => void) | undefined) {
    this.#onError = onError;
  }

  on<Name extends keyof Events & string>(name: Name, listener: Listener<Events[Name]>): void {
    this.off(name, listener);
    const guard = (value: unknown): void => callHook(listener, value as Events[Name], this.#onError);
    this.#add(name, listener, guard);
  }

  once<Name extends keyof Events & string>(name: Name, listener: Listener<Events[Name]>): void {
    this.off(name, listener);
    const guard = (value: unknown): void => {
      this.off(name, listener);
      callHook(listener, value as Events[Name], this.#onError);
    };
    this.#add(name, listener, guard);
  }

  off<Name extends keyof Events & string>(name: Name, listener: Listener<Events[Name]>): void {
    const guard = this.#guards?.get(name)?.get(listener);
    if (guard === undefined) return;
    this.#guards?.get(name)?.delete(listener);
    this.#emitter?.off(name, guard);
  }

  /** The value is made only when somebody listens. */
  emit<Name extends keyof Events & string>(name: Name, value: () => Events[Name]): void {
    if (this.#emitter === undefined || this.#emitter.listenerCount(name) === 0) return;
    this.#emitter.emit(name, value());
  }

  #add(name: keyof Events & string, listener: unknown, guard: Listener<unknown>): void {
    this.#emitter ??= new EventEmitter();
    this.#guards ??= new Map();
    const guards = this.#guards.get(name) ?? new Map<unknown, Listener<unknown>>();
    this.#guards.set(name, guards.set(listener, guard));
    this.#emitter.on(name, guard);
  }
}
