import type { DriverProgress } from "@slipway-examples/gateway-core";
import { stat } from "node:fs/promises";
import type { LockHolder } from "./image-lock.js";

/**
 * Waiting for somebody else's work is a step of its own, one for each holder. What its file has grown to is the sign
 * of life: when the holder stands still, so does the step. It is on the holder's budget, and on nobody else's.
 */
export class WaitSteps {
  readonly #subject: string;
  readonly #report: (progress: DriverProgress) => void;
  #holder: LockHolder | null = null;
  #count = 0;
  #bytes = -1;

  constructor(subject: string, report: (progress: DriverProgress) => void) {
    this.#subject = subject;
    this.#report = report;
  }

  async see(holder: LockHolder): Promise<void> {
    // A removal takes no time worth a word, and is nobody's work on the image.
    if (holder.sandbox === null) return;
    if (holder.token !== this.#holder?.token) {
      this.over(null);
      this.#holder = holder;
      this.#count += 1;
      this.#bytes = -1;
    }
    const bytes = await stat(holder.file).then(
      ({ size }) => size,
      () => 0,
    );
    if (bytes > this.#bytes) this.#report(this.#step(holder, bytes));
    this.#bytes = Math.max(bytes, this.#bytes);
  }

  over<T>(result: T): T {
    if (this.#holder !== null) this.#report({ ...this.#step(this.#holder, this.#bytes), done: true });
    this.#holder = null;
    return result;
  }

  #step({ sandbox }: LockHolder, position: number): DriverProgress {
    const whose = `which sandbox ${sandbox ?? ""}`;
    return {
      step: `image-wait-${this.#count}`,
      label: `Waited for image, ${whose} was packing`,
      activeLabel: `Waiting for image, ${whose} is packing`,
      subject: this.#subject,
      unit: "bytes",
      position,
      waiting: true,
    };
  }
}
