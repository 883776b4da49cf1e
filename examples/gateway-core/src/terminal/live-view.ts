import type { SandboxView } from "../http/view.js";
import { isComingUp } from "../record/phase.js";
import type { StepView } from "../record/record.js";
import { formatFinished, formatRunning } from "./format.js";

/** Where lines go. `columns` is there for a terminal only. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

const REDRAW_MS = 200;

/** Shows a sandbox coming up: finished steps and changes as lines, and on a terminal one line that is drawn anew. */
export class LiveView {
  readonly #output: Output;
  readonly #now: () => number;
  readonly #finished = new Set<string>();
  #running: StepView | undefined;
  #stage = "";
  #timer: NodeJS.Timeout | undefined;
  #drawn = false;
  #attempt = "";

  constructor(output: Output, now: () => number) {
    this.#output = output;
    this.#now = now;
  }

  show(view: SandboxView): void {
    const attempt = `${view.attempt}.${view.run}`;
    if (attempt !== this.#attempt) {
      this.#finished.clear();
      if (this.#attempt !== "" && view.run > 1)
        this.#line("The driver's work begins again (the deadline does not)");
      this.#attempt = attempt;
    }
    for (const step of view.steps) {
      if (step.finishedAt === null || this.#finished.has(step.step)) continue;
      this.#finished.add(step.step);
      this.#line(formatFinished(step));
    }
    const rejection = view.deadline?.rejection?.message ?? null;
    const detail =
      rejection === null || !isComingUp(view.phase) ? view.message : `configuration rejected: ${rejection}`;
    const stage = `${view.phase}/${view.reason}${detail === "" ? "" : `: ${detail}`}`;
    if (stage !== this.#stage) {
      this.#stage = stage;
      this.#line(stage);
    }
    this.#running = view.steps.find((step) => step.finishedAt === null);
    this.#draw();
    if (this.#output.isTTY === true) this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#running = undefined;
    this.#erase();
  }

  #line(text: string): void {
    this.#erase();
    const stamp = this.#output.isTTY === true ? "" : `${new Date(this.#now()).toISOString()} `;
    this.#output.write(`${stamp}${text}\n`);
  }

  #draw(): void {
    if (this.#output.isTTY !== true) return;
    this.#erase();
    if (this.#running === undefined) return;
    const text = formatRunning(this.#running, this.#now());
    // A line that wraps could not be erased again.
    this.#output.write(text.slice(0, Math.max((this.#output.columns ?? 80) - 1, 1)));
    this.#drawn = true;
  }

  #erase(): void {
    if (!this.#drawn) return;
    this.#output.write("\r\u001b[2K");
    this.#drawn = false;
  }
}
