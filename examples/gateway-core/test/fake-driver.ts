import { InvalidInputError } from "../src/input-error.js";
import {
  PermanentDriverError,
  type Driver,
  type InstanceRef,
  type LaunchContext,
  type LaunchRequest,
  type Observation,
  type SandboxRef,
} from "../src/driver/driver.js";
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
  readonly #gone = new Map<string, Promise<void>>();
  failCleanups = 0;

  check(_image: ImageSpec, options: JsonObject): Promise<void> {
    const bad = Object.keys(options)[0];
    if (bad === undefined) return Promise.resolve();
    return Promise.reject(new InvalidInputError(`driverOptions.${bad}`, "absent", options[bad]));
  }

  launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    this.calls.push(`launch ${request.instance.run}`);
    return new Promise((resolve, reject) => {
      const succeed = (): void => {
        this.#run(request.sandbox.id, request.instance.id);
        resolve({ instance: request.instance.id });
      };
      context.signal.addEventListener("abort", () => reject(context.signal.reason as Error), { once: true });
      this.launches.push({ request, context, succeed, fail: reject });
    });
  }

  observe(sandbox: SandboxRef, instance: InstanceRef, handle: Json | null): Promise<Observation> {
    this.calls.push(`observe ${instance.run}`);
    const running = this.running.get(sandbox.id);
    if (running?.instance !== instance.id) return Promise.resolve({ state: "gone" });
    return Promise.resolve({ state: "running", handle: handle ?? { instance: instance.id } });
  }

  waitUntilGone(sandbox: SandboxRef): Promise<void> {
    return this.#gone.get(sandbox.id) ?? Promise.resolve();
  }

  stop(sandbox: SandboxRef): Promise<void> {
    this.calls.push("stop");
    this.running.get(sandbox.id)?.gone();
    return Promise.resolve();
  }

  cleanUp(sandbox: SandboxRef): Promise<void> {
    this.calls.push("clean-up");
    if (this.failCleanups > 0) {
      this.failCleanups -= 1;
      return Promise.reject(new PermanentDriverError("Busy", "something holds on to it"));
    }
    this.running.get(sandbox.id)?.gone();
    return Promise.resolve();
  }

  remove(sandbox: SandboxRef): Promise<void> {
    this.calls.push("remove");
    this.running.get(sandbox.id)?.gone();
    return Promise.resolve();
  }

  #run(id: string, instance: string): void {
    const ended = new Promise<void>((resolve) => {
      this.running.set(id, {
        instance,
        gone: () => {
          this.running.delete(id);
          resolve();
        },
      });
    });
    this.#gone.set(id, ended);
  }
}
