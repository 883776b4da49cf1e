/** Told once when a signal that it watches aborts. Must not throw. */
export interface AbortWatcher {
  signalAborted(signal: AbortSignal): void;
}

/**
 * One listener on a signal for any number of watchers. Hosts remove listeners one by one along their list, so that
 * a listener for each of 20 000 waits makes a shared abort quadratic, and warns of a leak long before.
 */
class AbortHub {
  readonly watchers = new Set<AbortWatcher>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#tell);
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#tell);
    hubs.delete(this.#signal);
  }

  readonly #tell = (): void => {
    this.close();
    const watchers = [...this.watchers];
    this.watchers.clear();
    // Last come, first told: alarms that are taken back in the reverse order of their setting cost least.
    for (let index = watchers.length - 1; index >= 0; index -= 1)
      watchers[index]?.signalAborted(this.#signal);
  };
}

const hubs = new WeakMap<AbortSignal, AbortHub>();

/** Watches a signal that is not aborted yet. */
export function watchAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  let hub = hubs.get(signal);
  if (hub === undefined) {
    hub = new AbortHub(signal);
    hubs.set(signal, hub);
  }
  hub.watchers.add(watcher);
}

/** Stops watching; the last one takes the listener off the signal. */
export function unwatchAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  const hub = hubs.get(signal);
  if (hub?.watchers.delete(watcher) === true && hub.watchers.size === 0) hub.close();
}
