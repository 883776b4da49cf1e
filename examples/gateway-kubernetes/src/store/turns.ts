import { createHash } from "node:crypto";
import type { Clock } from "slipway";

/** Whoever wrote nothing for so long may be gone. */
const WRITER_KEPT_MS = 60_000;
/** So much later than the one before it each gateway takes up what is due and was left. */
const TURN_MS = 2000;
/** The last turn comes no later than this one, however many gateways there are. */
const LATEST_TURN = 2;

const MARK = /^([0-9a-f]{8})\//;

/**
 * Whose turn a record is that is due, among gateways that see one another write: the same one everywhere, and the next
 * one a little later should that one be gone. Nothing is written for it, nobody has to be asked, and two who see it
 * differently meet in a compare-and-swap, which one of them loses.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #self: string;
  /** When each was last seen to write. */
  readonly #writers = new Map<string, number>();

  /** @param name - Of this process, unlike that of any other one. */
  constructor(clock: Clock, name: string) {
    this.#clock = clock;
    this.#self = createHash("sha256").update(name).digest("hex").slice(0, 8);
  }

  /** Names a write, and whose it is. */
  markOf(write: string): string {
    return `${this.#self}/${write}`;
  }

  /** A write was seen to be made just now. One that says nothing of its writer is of a gateway that takes no turns. */
  saw(mark: string): void {
    const writer = MARK.exec(mark)?.[1];
    if (writer !== undefined) this.#writers.set(writer, this.#clock.now());
  }

  /** How long after it is due this gateway takes a record up, for all who write at present. */
  waits(): (id: string) => number {
    const now = this.#clock.now();
    for (const [writer, at] of this.#writers) if (now - at > WRITER_KEPT_MS) this.#writers.delete(writer);
    const writers = [...this.#writers.keys()];
    const others = writers.filter((writer) => writer !== this.#self);
    if (others.length === 0) return () => 0;
    // Nobody counts on one that does not write: what it takes up at once somebody else takes up as well.
    if (others.length === writers.length) return () => turn(others.length);
    return (id) => {
      const own = rank(this.#self, id);
      return turn(others.filter((writer) => rank(writer, id) > own).length);
    };
  }
}

function turn(before: number): number {
  return Math.min(before, LATEST_TURN) * TURN_MS;
}

/** The highest of all writers has the first turn of a record: a 32 bit hash of both (FNV-1a). */
function rank(writer: string, id: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${writer}/${id}`) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  }
  // The last characters have hardly reached the upper bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
