import { expect, it } from "vitest";
import { queuedStore } from "../src/store/queued-store.js";
import type { RecordStore, StoredRecord } from "../src/store/record-store.js";

/** A store whose every answer the test gives. */
function heldStore() {
  const asked: { id: string; answer: (found: StoredRecord | null) => void; fail: (error: Error) => void }[] =
    [];
  const get: RecordStore["get"] = (id) =>
    new Promise((answer, fail) => {
      asked.push({ id, answer, fail });
    });
  return { asked, store: { get } as RecordStore };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

it("asks so many things at once and the rest in their order, whether answers come or not", async () => {
  const { asked, store } = heldStore();
  const queued = queuedStore(store, 2);
  const answers = ["a", "b", "c", "d", "e"].map((id) =>
    queued.get(id).catch((error: unknown) => (error as Error).message),
  );
  await settle();
  expect(asked.map(({ id }) => id)).toEqual(["a", "b"]);
  asked[0]?.fail(new Error("away"));
  await settle();
  expect(asked.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  asked[2]?.answer(null);
  asked[1]?.answer(null);
  await settle();
  expect(asked.map(({ id }) => id)).toEqual(["a", "b", "c", "d", "e"]);
  asked[3]?.answer(null);
  asked[4]?.answer(null);
  expect(await Promise.all(answers)).toEqual(["away", null, null, null, null]);
  // Nobody waits any more: two places are free again.
  const later = ["f", "g", "h"].map((id) => queued.get(id));
  await settle();
  expect(asked.slice(5).map(({ id }) => id)).toEqual(["f", "g"]);
  asked[5]?.answer(null);
  asked[6]?.answer(null);
  await settle();
  asked[7]?.answer(null);
  await Promise.all(later);
});
