import {
  observeProcess,
  type ExpectedRun,
  type Observation,
  type ObservedSandbox,
  type Page,
  type WatchEvent,
} from "slipway";
import { InvalidInputError } from "../src/input-error.js";
import {
  PermanentDriverError,
  type Driver,
  type LaunchContext,
  type LaunchRequest,
  type SandboxRef,
  type Start,
  type WorkContext,
} from "../src/driver/driver.js";
import { namedLoss, seenInstance } from "../src/driver/seen-instance.js";
import type { Json, JsonObject } from "../src/record/json.js";
import type { ImageSpec } from "../src/record/record.js";

/** One launch that the test holds in its hand. */
export interface HeldLaunch {
  readonly request: LaunchRequest;
  readonly context: LaunchContext;
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

/** A backend of nothing but memory, told by the test what happens. It survives a gateway that is thrown away. */
export class FakeDriver implements Driver {
  readonly name = "fake";
  readonly launches: HeldLaunch[] = [];
  readonly calls: string[] = [];
  /** Instances whose supervisor runs, by sandbox. */
  readonly running = new Map<string, { readonly instance: string; readonly gone: () => void }>();
  /** Instances whose supervisor ended by itself, by sandbox. */
  readonly #dead = new Map<string, string>();
  readonly #news = new Set<(event: WatchEvent) => void>();
  failCleanups = 0;
  /** Whether a launch that is told to stop does, as it cannot in the middle of a call. */
  heedsAborts = true;
  /** The start that the latest cleanup was meant for. */
  cleanedUpTo: Start | undefined;
  /** Waited for in the middle of every call that changes something. */
  pace: () => Promise<void> = () => Promise.resolve();
  /** Calls that change something for one sandbox, at the same time: the most that there were. */
  mostAtOnce = 0;
  readonly #atWork = new Map<string, number>();
  /** Called before each look is answered. */
  onObserve: (id: string) => Promise<void> = () => Promise.resolve();
  /** Whether a sandbox leaves something to see also where nothing of it runs. */
  keepsFolders = true;
  /** Waited for between each look and its answer. */
  onSeen: (id: string) => Promise<void> = () => Promise.resolve();

  check(_image: ImageSpec, options: JsonObject): Promise<void> {
    const bad = Object.keys(options)[0];
    if (bad === undefined) return Promise.resolve();
    return Promise.reject(new InvalidInputError(`driverOptions.${bad}`, "absent", options[bad]));
  }

  launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    return this.#alone(request.sandbox.id, () => this.#launch(request, context));
  }

  async #launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    this.calls.push(`launch ${request.instance.run}`);
    return new Promise((resolve, reject) => {
      const succeed = (): void => {
        this.#run(request.sandbox.id, request.instance.id);
        resolve({ instance: request.instance.id });
      };
      const stop = (): void => {
        if (this.heedsAborts) reject(context.signal.reason as Error);
      };
      context.signal.addEventListener("abort", stop, { once: true });
      this.launches.push({ request, context, succeed, fail: reject });
    });
  }

  async observe(sandbox: SandboxRef, run: ExpectedRun): Promise<Observation> {
    await this.onObserve(sandbox.id);
    const seen = this.#seen(sandbox.id, run);
    await this.onSeen(sandbox.id);
    return seen;
  }

  list(): Promise<Page<ObservedSandbox>> {
    const ids = new Set([...this.running.keys(), ...this.#dead.keys()]);
    return Promise.resolve({
      items: [...ids].map((id) => ({ id, observation: this.#seen(id, {}) })),
      cursor: null,
    });
  }

  async *watch({ signal }: WorkContext): AsyncIterable<WatchEvent> {
    const queue: WatchEvent[] = [];
    let wake: () => void = () => undefined;
    const hear = (event: WatchEvent): void => {
      queue.push(event);
      wake();
    };
    this.#news.add(hear);
    signal.addEventListener("abort", () => wake(), { once: true });
    while (!signal.aborted) {
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) yield event;
      await new Promise<void>((resolve) => (wake = resolve));
    }
    this.#news.delete(hear);
  }

  stop(sandbox: SandboxRef): Promise<void> {
    return this.#alone(sandbox.id, async () => {
      this.calls.push("stop");
      await this.pace();
      this.#end(sandbox.id);
    });
  }

  cleanUp(sandbox: SandboxRef, { upTo }: WorkContext): Promise<void> {
    return this.#alone(sandbox.id, async () => {
      this.calls.push("clean-up");
      this.cleanedUpTo = upTo;
      await this.pace();
      if (this.failCleanups > 0) {
        this.failCleanups -= 1;
        throw new PermanentDriverError("Busy", "something holds on to it");
      }
      this.#end(sandbox.id);
    });
  }

  remove(sandbox: SandboxRef): Promise<void> {
    return this.#alone(sandbox.id, async () => {
      this.calls.push("remove");
      await this.pace();
      this.#end(sandbox.id);
    });
  }

  async #alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    const atWork = (this.#atWork.get(id) ?? 0) + 1;
    this.#atWork.set(id, atWork);
    this.mostAtOnce = Math.max(this.mostAtOnce, atWork);
    try {
      return await work();
    } finally {
      this.#atWork.set(id, (this.#atWork.get(id) ?? 1) - 1);
    }
  }

  /** Everything of a sandbox ends, as it does when it was told to. */
  #end(id: string): void {
    this.running.delete(id);
    this.#dead.delete(id);
    this.#tell(id);
  }

  #run(id: string, instance: string): void {
    this.#dead.delete(id);
    this.running.set(id, {
      instance,
      gone: () => {
        this.running.delete(id);
        this.#dead.set(id, instance);
        this.#tell(id);
      },
    });
    this.#tell(id);
  }

  #tell(id: string): void {
    for (const hear of this.#news) hear({ type: "changed", id });
  }

  #seen(id: string, run: ExpectedRun): Observation {
    const alive = this.running.get(id);
    const instanceId = alive?.instance ?? this.#dead.get(id);
    const process =
      instanceId === undefined
        ? null
        : { alive: alive !== undefined, exitCode: null, signal: null, instanceId };
    return seenInstance(
      namedLoss(
        observeProcess({ process, stateDir: { exists: process !== null || this.keepsFolders } }, { run }),
      ),
      instanceId ?? null,
      run,
    );
  }
}
