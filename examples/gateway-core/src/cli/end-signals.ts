import { constants } from "node:os";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * What ends this process from outside. Nothing is in order yet, or nobody wants to wait for order any more: it ends at
 * once, with the code of a process that the signal ended. Said by handlers of its own, since the first process of a
 * container has no others.
 */
export class EndSignals {
  #inOrder: (() => void) | null = null;

  constructor() {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const end = this.#inOrder;
        this.#inOrder = null;
        if (end === null) process.exit(128 + constants.signals[signal]);
        end();
      });
    }
  }

  /** The next signal calls this instead; the one after it ends the process at once. */
  endInOrder(end: () => void): void {
    this.#inOrder = end;
  }
}
