import type { ProcessIdentity } from "@slipway-examples/gateway-core";
import { EventEmitter } from "node:events";
import { QmpClient } from "./machine/qmp-client.js";
import { socketOf } from "./machine/monitor.js";
import { EVENTS } from "./machine/qemu-arguments.js";

const CONNECT_LIMIT_MS = 5000;

interface NewsEvents {
  news: [sandboxId: string];
}

/** Listens to the machines while somebody wants to know. What is missed is found by the next look at all of them. */
export class MachineNews extends EventEmitter<NewsEvents> {
  readonly #attached = new Map<number, QmpClient | null>();

  say(sandboxId: string): void {
    this.emit("news", sandboxId);
  }

  /** Listens to a machine until it is gone, once. */
  async attach(sandboxId: string, process: ProcessIdentity): Promise<void> {
    const { pid } = process;
    if (this.listenerCount("news") === 0 || this.#attached.has(pid)) return;
    this.#attached.set(pid, null);
    try {
      const client = await QmpClient.connect(
        socketOf(process, EVENTS),
        AbortSignal.timeout(CONNECT_LIMIT_MS),
      );
      client.on("event", () => this.say(sandboxId));
      client.on("close", () => {
        this.#attached.delete(pid);
        this.say(sandboxId);
      });
      this.#attached.set(pid, client);
      // What happened before this is not told any more: whoever wants to know looks once.
      this.say(sandboxId);
    } catch {
      // Somebody else listens to it, or it is gone.
      this.#attached.delete(pid);
    }
  }

  /** Stops listening to all machines when nobody wants to know any more. */
  detachUnlessWanted(): void {
    if (this.listenerCount("news") > 0) return;
    for (const client of this.#attached.values()) client?.close();
  }
}
