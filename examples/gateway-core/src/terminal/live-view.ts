import { fitLine, NOTHING_PRINTED, plainLine, stepLines, type Printed } from "slipway/progress";
import { stepAt, type StepView } from "../http/step-view.js";
import type { SandboxView } from "../http/view.js";
import { isComingUp } from "../record/phase.js";
import { safeText } from "./safe-text.js";

/** Where lines go. `columns` is there for a terminal only. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** How often a line is drawn anew on a terminal, and how often, without one, a step says how far it has come. */
const REDRAW_MS = 200;
const REPEAT_MS = 30_000;

/** The work of an attempt with its phases, or phases alone, as for a sandbox that is to end. */
export type Shown = "work" | "phase";

/**
 * Shows a sandbox coming up, as the library prints steps: finished ones and changes as lines and, on a terminal, the
 * step under way as one line that is drawn anew. The first line names the image that was asked for. Of one that is to
 * end only phases are shown, with the time since that was asked for.
 */
export class LiveView {
  readonly #output: Output;
  readonly #now: () => number;
  readonly #shown: Shown;
  readonly #openedAt: number;
  #printed: Printed = NOTHING_PRINTED;
  #view: SandboxView | undefined;
  #stage = "";
  #timer: NodeJS.Timeout | undefined;
  #drawn = false;

  constructor(output: Output, now: () => number, shown: Shown = "work") {
    this.#output = output;
    this.#now = now;
    this.#shown = shown;
    this.#openedAt = now();
  }

  show(view: SandboxView): void {
    const before = this.#view;
    this.#view = view;
    if (this.#shown === "work") this.#showWork(before, view);
    this.#showStage(view);
  }

  /** The sandbox was deleted: there is nothing to show any more. */
  gone(name: string): void {
    this.#line(`${name} is gone`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#view = undefined;
    this.#erase();
  }

  #showWork(before: SandboxView | undefined, view: SandboxView): void {
    if (before?.attempt !== view.attempt) {
      this.#printed = NOTHING_PRINTED;
      this.#line(`${view.name}: image ${view.image.name}, driver ${view.driver}, attempt ${view.attempt}`);
    } else if (before.run !== view.run && before.run > 0) {
      this.#line("The driver's work begins again (the deadline does not)");
    }
    this.#draw();
    const everyMs = this.#output.isTTY === true ? REDRAW_MS : REPEAT_MS;
    this.#timer ??= setInterval(() => this.#draw(), everyMs).unref();
  }

  #showStage(view: SandboxView): void {
    const stage = stageOf(view);
    if (stage === this.#stage) return;
    this.#stage = stage;
    this.#line(stage);
    this.#draw();
  }

  #line(said: string): void {
    const text = safeText(said);
    this.#erase();
    this.#output.write(`${this.#output.isTTY === true ? text : plainLine(this.#elapsedMs(), text)}\n`);
  }

  #draw(): void {
    const view = this.#view;
    if (view === undefined || this.#shown !== "work") return;
    const terminal = this.#output.isTTY === true;
    const options = { terminal, elapsedMs: this.#elapsedMs(), everyMs: REPEAT_MS };
    const { lines, live, printed } = stepLines(readingsOf(view, this.#now()), this.#printed, options);
    this.#printed = printed;
    this.#erase();
    for (const line of lines) this.#output.write(`${line}\n`);
    if (live === null) return;
    // A terminal that does not know how wide it is says 0.
    this.#output.write(fitLine(live, this.#output.columns || 80));
    this.#drawn = true;
  }

  #elapsedMs(): number {
    if (this.#shown === "phase") return this.#now() - this.#openedAt;
    return this.#now() - (this.#view?.deadline?.startedAt ?? this.#view?.createdAt ?? this.#now());
  }

  #erase(): void {
    if (!this.#drawn) return;
    this.#output.write("\r\u001b[2K");
    this.#drawn = false;
  }
}

/** The steps as they are now. Work that begins anew under the same name is another one, and gets a line of its own. */
function readingsOf({ steps, deadline }: SandboxView, now: number): readonly StepView[] {
  const shown =
    deadline?.status === "active" ? steps.map((step) => stepAt(step, now)) : steps.filter(isFinished);
  return shown.map((step) => ({ ...step, ...wordsOf(step), step: `${step.step} ${step.startedAt ?? ""}` }));
}

/** What a driver says of a step, and what it works on, each on the one line that a step has. */
function wordsOf({
  label,
  activeLabel,
  subject,
}: StepView): Pick<StepView, "label" | "activeLabel" | "subject"> {
  const inLine = (text: string): string => safeText(text).replaceAll("\n", " ");
  return { label: inLine(label), activeLabel: inLine(activeLabel), subject: inLine(subject) };
}

function isFinished({ finished }: StepView): boolean {
  return finished;
}

function stageOf({ phase, reason, message, deadline }: SandboxView): string {
  const rejection = deadline?.rejection?.message ?? null;
  const detail = rejection === null || !isComingUp(phase) ? message : `configuration rejected: ${rejection}`;
  return `${phase}/${reason}${detail === "" ? "" : `: ${detail}`}`;
}
