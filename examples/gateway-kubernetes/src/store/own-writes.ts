import { randomUUID } from "node:crypto";
import type { Plain } from "../api/plain.js";
import type { RecordMirror } from "./record-mirror.js";
import type { RecordChanged, RecordNews } from "./record-news.js";
import type { Turns } from "./turns.js";

/** Tells what this process writes from what others do, whose writes are news. */
export class OwnWrites {
  readonly #mirror: RecordMirror;
  readonly #news: RecordNews;
  readonly #turns: Turns;
  /** Writes under way here, with what was heard of them before their answer came. */
  readonly #writing = new Map<string, RecordChanged | null>();

  constructor(mirror: RecordMirror, news: RecordNews, turns: Turns) {
    this.#mirror = mirror;
    this.#news = news;
    this.#turns = turns;
  }

  /** A write of which this process tells by itself, unless it never learns that it went through. */
  async run<T>(work: (write: string) => Promise<T>): Promise<T> {
    const write = this.#turns.markOf(randomUUID());
    this.#writing.set(write, null);
    try {
      return await work(write);
    } catch (error) {
      const heard = this.#writing.get(write) ?? null;
      if (heard !== null) this.#news.note(heard);
      throw error;
    } finally {
      this.#writing.delete(write);
    }
  }

  /** Somebody wrote a record, perhaps this process itself. */
  heard(change: RecordChanged): void {
    const write = change.record?.write ?? "";
    this.#turns.saw(write);
    if (this.#writing.has(write)) this.#writing.set(write, change);
    else this.#news.note(change);
  }

  /** A write of this process went through. */
  wrote(object: Plain, write: string): void {
    this.#turns.saw(write);
    const written = this.#mirror.wrote(object);
    if (written !== null) this.#news.outdate(written);
  }
}
