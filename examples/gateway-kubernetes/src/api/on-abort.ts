interface Hub {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const HUBS = new WeakMap<AbortSignal, Hub>();

/** Calls back once when the signal aborts, until disposed. Any number of these hold one listener on a signal. */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  const hub = HUBS.get(signal) ?? openHub(signal);
  hub.callbacks.add(callback);
  return {
    [Symbol.dispose]() {
      hub.callbacks.delete(callback);
      if (hub.callbacks.size > 0 || HUBS.get(signal) !== hub) return;
      HUBS.delete(signal);
      signal.removeEventListener("abort", hub.listener);
    },
  };
}

function openHub(signal: AbortSignal): Hub {
  const callbacks = new Set<() => void>();
  const hub: Hub = {
    callbacks,
    listener: () => {
      HUBS.delete(signal);
      for (const call of [...callbacks]) call();
    },
  };
  HUBS.set(signal, hub);
  signal.addEventListener("abort", hub.listener, { once: true });
  return hub;
}
