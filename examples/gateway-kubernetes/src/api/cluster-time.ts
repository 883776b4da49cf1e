import { middleOf, narrowed, offsetOf, type TimeOffset } from "@slipway-examples/gateway-core";

const SECOND_MS = 1000;
/** Crystals differ by some ten millionths: what two clocks may drift apart in one millisecond, with room to spare. */
const DRIFT = 1e-4;
/** Answers that agree count up to so many: as many seconds of nothing but another time it takes to believe that one. */
const MOST_VOTES = 30;
/** What one connection answers within a moment is one server's word, however often it is said. */
const VOTE_EVERY_MS = SECOND_MS;
/** What fewer answers say together could be the word of one server that is wrong. */
const FEW_VOTES = 3;

interface Estimate {
  readonly offset: TimeOffset;
  /** When it was last narrowed. */
  readonly at: number;
}

/**
 * How far the cluster's clock is ahead of this process's, from the dates of its answers.
 *
 * An answer that contradicts what is known may be dated by one server of several whose clock is wrong, or by something
 * in between; time never runs backwards, so that whoever believed one such answer would stand still for as long as it
 * was wrong. Each contradiction takes a vote from what is known, one a second at most, each agreement gives one back, and
 * without votes left the other time is believed: a cluster whose clock was set is followed after half a minute.
 */
export class ClusterTime {
  #known: Estimate | null = null;
  #votes = 0;
  /** What contradicts it: the last answers that agree with one another. */
  #other: Estimate | null = null;
  #opposedAt = Number.NEGATIVE_INFINITY;
  #heardAt = Number.NEGATIVE_INFINITY;

  /** How far it is ahead; `null` before the first answer that was dated. */
  get offset(): TimeOffset | null {
    return this.#known?.offset ?? null;
  }

  /** When an answer was last dated, on the clock of this process. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Whether enough answers agree for it to be decided on. */
  get isTrusted(): boolean {
    return this.#votes >= FEW_VOTES;
  }

  /** An answer that was asked for at `sentAt` came at `at`, dated to a whole second. */
  note(second: number, sentAt: number, at: number): void {
    const next = offsetOf({ earliest: second, latest: second + SECOND_MS }, sentAt, at);
    this.#heardAt = at;
    const fitsOther = this.#other !== null && agrees(this.#other, next, at);
    if (this.#known === null || agrees(this.#known, next, at)) {
      this.#known = joined(this.#known, next, at);
      // A second that both times are in says nothing about which of them is right.
      if (fitsOther) this.#other = joined(this.#other, next, at);
      else this.#votes = Math.min(this.#votes + 1, MOST_VOTES);
      return;
    }
    this.#other = joined(this.#other, next, at);
    if (at - this.#opposedAt < VOTE_EVERY_MS) return;
    this.#opposedAt = at;
    this.#votes -= 1;
    if (this.#votes > 0) return;
    this.#known = this.#other;
    this.#votes = 1;
    this.#other = null;
  }
}

function driftOf({ at }: Estimate, now: number): number {
  return Math.ceil((now - at) * DRIFT);
}

function agrees(known: Estimate, { least, most }: TimeOffset, at: number): boolean {
  const drift = driftOf(known, at);
  return least <= known.offset.most + drift && most >= known.offset.least - drift;
}

function joined(known: Estimate | null, next: TimeOffset, at: number): Estimate {
  return { offset: known === null ? next : narrowed(known.offset, next, driftOf(known, at)), at };
}

/** How long until the middle of what is open has it that a second begins there. */
export function untilSecond(offset: TimeOffset, now: number): number {
  return SECOND_MS - ((now + middleOf(offset)) % SECOND_MS);
}
