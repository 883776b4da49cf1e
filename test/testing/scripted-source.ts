import { absent, present, type Observation } from "../../src/phase/observation.js";
import type {
  ExpectedRun,
  ObservationSource,
  ObservedSandbox,
  Page,
  WatchEvent,
} from "../../src/phase/index.js";
import type { ObservationSourceSubject } from "../../src/testing/index.js";

const PAGE = 7;
const AT = 1_800_000_000_000;

/** A backend in memory that shows what it was told, page by page, with news for whoever watches. */
export class ScriptedSource implements ObservationSource, ObservationSourceSubject {
  readonly running = new Map<string, string>();
  readonly #listeners = new Set<(event: WatchEvent) => void>();
  #answers = true;

  get source(): ObservationSource {
    return this;
  }

  async start(id: string, instanceId: string): Promise<void> {
    await Promise.resolve();
    this.running.set(id, instanceId);
    this.#tell({ type: "changed", id });
  }

  async remove(id: string): Promise<void> {
    await Promise.resolve();
    this.running.delete(id);
    this.#tell({ type: "deleted", id });
  }

  async breakBackend(): Promise<void> {
    await Promise.resolve();
    this.#answers = false;
  }

  async list(cursor: string | null): Promise<Page<ObservedSandbox>> {
    await this.answer();
    const ids = [...this.running.keys()].sort().filter((id) => cursor === null || id > cursor);
    const items = ids.slice(0, PAGE).map((id) => ({ id, observation: this.observation(id) }));
    return { items, cursor: ids.length > PAGE ? (items.at(-1)?.id ?? null) : null };
  }

  async get(id: string, run: ExpectedRun): Promise<ObservedSandbox | null> {
    await this.answer();
    const observation = this.observation(id);
    const { instanceId } = observation;
    const expected = run.instanceId ?? null;
    const stale = instanceId !== null && expected !== null && expected !== instanceId;
    return { id, observation: { ...observation, stale } };
  }

  async *watch(signal: AbortSignal): AsyncIterable<WatchEvent> {
    const heard: WatchEvent[] = [];
    let wake: () => void = () => undefined;
    const listener = (event: WatchEvent): void => {
      heard.push(event);
      wake();
    };
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => wake(), { once: true });
    try {
      while (!signal.aborted) {
        yield* heard.splice(0);
        if (heard.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          // It may have ended while this was on its way here.
          if (signal.aborted) resolve();
        });
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  protected async answer(): Promise<void> {
    await Promise.resolve();
    if (!this.#answers) throw new Error("the backend does not answer");
  }

  protected observation(id: string): Observation {
    const instanceId = this.running.get(id);
    if (instanceId === undefined) return absent(AT);
    return { ...present(AT), running: true, readiness: "none", instanceId };
  }

  #tell(event: WatchEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
