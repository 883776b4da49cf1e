import { existsSync } from "node:fs";

const FAKE_TIME = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map(
  (system) => `/usr/lib/${system}/faketime/libfaketimeMT.so.1`,
);

/** The library that sets clocks of single processes, `null` where it is not installed. */
export function findFakeTime(): string | null {
  return FAKE_TIME.find((path) => existsSync(path)) ?? null;
}

export async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    (response) => response.ok,
    () => false,
  );
}

/** What is to be done at the end, the latest first, whatever happens in between. */
export class Cleanups {
  readonly #work: (() => Promise<unknown>)[] = [];
  #running: Promise<void> | null = null;

  defer(work: () => Promise<unknown>): void {
    this.#work.push(work);
  }

  /** Does all of it, also when some of it fails; once, whoever asks. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    for (const work of this.#work.splice(0).reverse()) await work().catch(() => undefined);
  }
}
