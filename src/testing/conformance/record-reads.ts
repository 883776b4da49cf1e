import { expectEqual, type ConformanceCase } from "./conformance-case.js";
import type { RecordStoreSubject } from "./record-store-subject.js";
import { AT, listAll, record, stored } from "./stored-records.js";

/**
 * What is read is what was written, by whomever, and nothing else.
 *
 * @internal
 */
export const recordReads: readonly ConformanceCase<RecordStoreSubject>[] = [
  {
    name: "what is not there reads as null, and no write or removal invents it",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      const { version } = await stored(store, "a");
      expectEqual("reading nothing", await store.get("b"), null);
      expectEqual("swapping nothing", await store.compareAndSwap("b", version, record()), null);
      expectEqual("removing nothing", await store.delete("b", version), false);
      expectEqual("reading nothing afterwards", await store.get("b"), null);
    },
  },
  {
    name: "a record comes back as it was written, with every field",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      const full = record({
        phase: "Error",
        updatedAt: AT + 1,
        instanceId: 'ü "1"',
        expectedInstanceId: null,
        exitCode: 137,
        finishedAt: AT + 2,
        reason: "BootFailed",
        message: "line\nline",
        deadline: { deadlineAt: null, phase: "admission", lastPhase: true },
        conditions: [
          {
            type: "Ready",
            status: "False",
            reason: "BootFailed",
            message: "",
            lastTransitionTime: "2027-01-15T08:00:00Z",
          },
        ],
        generation: 7,
      });
      await subject.create("a", full);
      expectEqual("what was created", (await stored(store, "a")).record, full);
      const next = record({ phase: "Starting", desired: "running" });
      const written = await store.compareAndSwap("a", (await stored(store, "a")).version, next);
      expectEqual("what a swap answers", [written?.id, written?.record], ["a", next]);
      expectEqual("what was swapped in", (await stored(store, "a")).record, next);
    },
  },
  {
    name: "an id is taken to the letter",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("sb-10", record());
      const { version } = await stored(store, "sb-10");
      for (const other of ["SB-10", "sb-1", "sb-100", "sb_10", "sb-%"]) {
        expectEqual(`reading ${other}`, await store.get(other), null);
        expectEqual(`swapping ${other}`, await store.compareAndSwap(other, version, record()), null);
        expectEqual(`removing ${other}`, await store.delete(other, version), false);
      }
      expectEqual("the record afterwards", (await stored(store, "sb-10")).version, version);
    },
  },
  {
    name: "a long text comes back whole",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      const long = record({ message: "ä line of many\n".repeat(1000) });
      await subject.create("a", long);
      expectEqual("the record", (await stored(store, "a")).record, long);
    },
  },
  {
    name: "whoever read before reads what somebody else has written since",
    async run(open) {
      const subject = await open();
      const { store, other = store } = subject;
      await subject.create("a", record());
      await subject.create("b", record());
      await listAll(other);
      const { version } = await stored(other, "a");
      await store.compareAndSwap("a", version, record({ since: 1 }));
      await store.delete("b", (await stored(other, "b")).version);
      expectEqual("the record", (await stored(other, "a")).record, record({ since: 1 }));
      expectEqual("what was removed", await other.get("b"), null);
      const items = await listAll(other);
      expectEqual(
        "the listing",
        items.map(({ id, record: { since } }) => [id, since]),
        [["a", 1]],
      );
    },
  },
];
