import type { Clock } from "slipway";
import { sleep } from "../sleep.js";
import type { ChangeListener } from "./change-listener.js";
import type { SqliteStore } from "./sqlite-store.js";

const LOOK_EVERY_MS = 1000;

export interface SqliteWatchOptions {
  readonly store: Pick<SqliteStore, "writesOfOthers">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly listener: Pick<ChangeListener, "noticeWrites">;
  readonly onError: (error: unknown) => void;
}

/** Looks each second whether others wrote to the file, and tells the listener: one question, however many wait for news. */
export async function watchSqlite({
  store,
  clock,
  signal,
  listener,
  onError,
}: SqliteWatchOptions): Promise<void> {
  let last: number | null = null;
  const slept = (): Promise<boolean> =>
    sleep(clock, LOOK_EVERY_MS, signal).then(
      () => true,
      () => false,
    );
  do {
    try {
      const writes = await store.writesOfOthers();
      if (last !== null && writes !== last) listener.noticeWrites();
      last = writes;
    } catch (error) {
      // What could not be looked at may have changed: the next look finds another number than the last one, if so.
      onError(error);
    }
  } while (await slept());
}
