import { hasMethod } from "../errors.js";

/** Told what a hook or a listener threw. `null` and absent: the console is. */
export type OnError = ((error: unknown) => void) | null | undefined;

/** Calls what is not ours to trust: neither a throw nor a rejection leaves here, both go to `onError`. */
export function callHook<Value>(
  hook: ((value: Value) => unknown) | undefined,
  value: Value,
  onError: OnError,
): void {
  if (hook) call(hook, value, (error) => reportTo(onError, error));
}

/** Hands an error to whoever wants it, and else to the console. */
export function reportTo(onError: OnError, error: unknown): void {
  call(onError ?? print, error, ignore);
}

function call<Value>(hook: (value: Value) => unknown, value: Value, failed: (error: unknown) => void): void {
  try {
    const result = hook(value);
    if (hasMethod(result, "then")) Promise.resolve(result).then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/** An error that nobody asked for is a fault still, and one that is shown nowhere is not found. */
function print(error: unknown): void {
  // eslint-disable-next-line no-restricted-globals -- there is no port for it: who wants another place gives `onError`
  console.error("Slipway: no onError for", error);
}

/** Whoever handles errors and fails at it has nobody left to tell. */
function ignore(): void {}
