/** Signals are numbered from 1 to 64; a shell adds 128. */
const FIRST_SIGNAL_CODE = 129;
const LAST_SIGNAL_CODE = 192;

/**
 * What a process exit code says about why it ended: `null` for success, `Killed` for a signal, else `ProcessExited`.
 *
 * Codes above 192 are not signals (Windows prints 3221225786), and nothing is masked to 8 bits. Who sent a signal is
 * unknown: 137 alone is no proof of memory exhaustion, and 143 may be ours.
 */
export function exitCause(code: number): "Killed" | "ProcessExited" | null {
  if (code === 0) return null;
  return code < 0 || (code >= FIRST_SIGNAL_CODE && code <= LAST_SIGNAL_CODE) ? "Killed" : "ProcessExited";
}

/** SIGKILL as a shell, a kernel or a Go supervisor spells it. */
export function isKill(code: number | null): boolean {
  return code === 137 || code === 9 || code === -1 || code === -9;
}
