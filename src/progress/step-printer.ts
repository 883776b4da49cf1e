import { systemClock, type Clock } from "../clock/index.js";
import { fitLine } from "./fit-line.js";
import { NOTHING_PRINTED, stepLines, type Printed } from "./step-lines.js";
import type { StepTracker } from "./step-tracker.js";

/** Where lines go: a stream of text, `process.stdout` for instance. */
export interface StepOutput {
  /** Writes text as it is: line ends and cursor movements are in it. */
  write(text: string): unknown;
  /** Whether a line can be drawn anew. */
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal. Default 80. */
  readonly columns?: number | undefined;
}

/** How a {@link StepPrinter} prints. */
export interface StepPrinterOptions {
  /** Default: the system clock. The tracker's, where that has another one. */
  readonly clock?: Clock | undefined;
  /** How often the line under way is drawn anew. Default 200 ms on a terminal, else 30 000: when it is repeated. */
  readonly everyMs?: number | undefined;
}

const ERASE_LINE = "\r\u001b[2K";

/**
 * Prints a tracker's steps as they go: one line for each that finished and, on a terminal, one that is drawn anew.
 * Disposing ends it. Waiting to draw keeps no process alive.
 *
 * @example
 * ```ts
 * import { StepPrinter, StepTracker } from "slipway/progress";
 *
 * using tracker = new StepTracker([{ step: "export", label: "Image exported", subject: "local-big:1" }]);
 * using printer = new StepPrinter(tracker, { write: (text: string) => console.log(text.trimEnd()) });
 * tracker.finish("export", "local-big:1"); // prints [0.0s] ✓ Image exported (local-big:1) (0.0s)
 * ```
 *
 * @public
 */
export class StepPrinter implements Disposable {
  readonly #tracker: StepTracker;
  readonly #output: StepOutput;
  readonly #clock: Clock;
  readonly #everyMs: number;
  #printed: Printed = NOTHING_PRINTED;
  #alarm: Disposable | undefined;
  #drawn = false;
  #ended = false;

  /** Starts to print, until it is disposed of. */
  constructor(tracker: StepTracker, output: StepOutput, options: StepPrinterOptions = {}) {
    const { clock = systemClock, everyMs = output.isTTY ? 200 : 30_000 } = options;
    this.#tracker = tracker;
    this.#output = output;
    this.#clock = clock;
    this.#everyMs = everyMs;
    tracker.on("started", this.#draw).on("finished", this.#draw).on("change", this.#draw);
    this.#redraw();
  }

  /** Prints what is news, and takes the line under way away. */
  [Symbol.dispose](): void {
    if (this.#ended) return;
    // First: whoever is written to may end the printing, now and at any time.
    this.#ended = true;
    this.#draw();
    this.#tracker.off("started", this.#draw).off("finished", this.#draw).off("change", this.#draw);
    this.#alarm?.[Symbol.dispose]();
    this.#erase();
  }

  readonly #draw = (): void => {
    const { startedAt, observedAt } = this.#tracker.state;
    const elapsedMs = Math.max(this.#clock.now(), observedAt) - startedAt;
    const terminal = this.#output.isTTY === true;
    const { lines, live, printed } = stepLines(this.#tracker.readings(), this.#printed, {
      terminal,
      elapsedMs,
      everyMs: this.#everyMs,
    });
    this.#printed = printed;
    this.#erase();
    for (const line of lines) this.#output.write(`${line}\n`);
    if (live === null) return;
    this.#output.write(fitLine(live, this.#output.columns));
    this.#drawn = true;
  };

  readonly #redraw = (): void => {
    this.#draw();
    if (!this.#ended)
      this.#alarm = this.#clock.schedule(this.#clock.now() + this.#everyMs, this.#redraw, { unref: true });
  };

  #erase(): void {
    if (this.#drawn) this.#output.write(ERASE_LINE);
    this.#drawn = false;
  }
}
