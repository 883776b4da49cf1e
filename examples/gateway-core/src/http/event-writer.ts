import type { Clock } from "slipway";
import type { SSEStreamingApi } from "hono/streaming";

export interface ServerEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

/** Longest silence on a stream: a comment tells whoever follows, and everything in between, that it is alive. */
export const QUIET_MS = 15_000;
/** So long a reader may take for one piece. Who takes nothing at all holds memory and a connection for nothing. */
export const STUCK_MS = 30_000;

/** The reader of a stream took nothing for too long. */
export class StuckReaderError extends Error {
  override readonly name = "StuckReaderError";
  constructor() {
    super(`The reader of a stream took nothing for ${STUCK_MS} ms`);
  }
}

/** Writes to a stream at its reader's pace, within a limit for each piece. */
export class EventWriter {
  readonly #stream: SSEStreamingApi;
  readonly #clock: Clock;
  #wroteAt: number;

  constructor(stream: SSEStreamingApi, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    this.#wroteAt = clock.now();
  }

  /** When the stream has been quiet for long enough. */
  get quietAt(): number {
    return this.#wroteAt + QUIET_MS;
  }

  /** @throws StuckReaderError */
  send(event: ServerEvent): Promise<void> {
    return this.#limited(this.#stream.writeSSE(event));
  }

  /** Shows that the stream is alive, when it was quiet. */
  async stillHere(): Promise<void> {
    if (this.#clock.now() >= this.quietAt) await this.#limited(this.#stream.write(": still here\n\n"));
  }

  async #limited(writing: Promise<unknown>): Promise<void> {
    let giveUp: (error: Error) => void = () => undefined;
    const stuck = new Promise<never>((_, reject) => (giveUp = reject));
    const alarm = this.#clock.schedule(this.#clock.now() + STUCK_MS, () => giveUp(new StuckReaderError()));
    try {
      await Promise.race([writing, stuck]);
    } finally {
      alarm[Symbol.dispose]();
    }
    this.#wroteAt = this.#clock.now();
  }
}
