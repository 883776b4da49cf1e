import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedWork, type Waiter } from "../src/image/shared-work.js";

function caller(): {
  controller: AbortController;
  heard: string[];
  waits: boolean[];
  waiter: Waiter<string>;
} {
  const controller = new AbortController();
  const heard: string[] = [];
  const waits: boolean[] = [];
  const tell = (news: string, waiting: boolean): void => {
    heard.push(news);
    waits.push(waiting);
  };
  return { controller, heard, waits, waiter: { signal: controller.signal, tell } };
}

/** Work that ends when the test says so, and fails in its own words when it is given up. */
function scripted() {
  let finish: (result: string) => void = () => undefined;
  let tellAll: (key: string, news: string) => void = () => undefined;
  const begun: AbortSignal[] = [];
  const work = (signal: AbortSignal, tell: (key: string, news: string) => void): Promise<string> => {
    begun.push(signal);
    tellAll = tell;
    return new Promise((resolve, reject) => {
      finish = resolve;
      signal.addEventListener("abort", () => reject(new Error("The operation was aborted")));
    });
  };
  return {
    work,
    begun,
    finish: (result: string) => finish(result),
    tell: (key: string, news: string) => tellAll(key, news),
  };
}

describe("work that several wait for", () => {
  it("is done once, and whoever comes later hears what was said last", async () => {
    const shared = new SharedWork<string, string>();
    const script = scripted();
    const [one, two] = [caller(), caller()];
    const first = shared.join("x", one.waiter, script.work);
    script.tell("bytes", "1");
    script.tell("bytes", "2");
    const second = shared.join("x", two.waiter, script.work);
    script.finish("done");
    expect(await Promise.all([first, second])).toEqual(["done", "done"]);
    expect(script.begun.length).toBe(1);
    expect([one.heard, two.heard]).toEqual([["1", "2"], ["2"]]);
  });

  it("is begun anew by whoever comes while it is being given up, and afterwards", async () => {
    const shared = new SharedWork<string, string>();
    const script = scripted();
    const [one, two] = [caller(), caller()];
    const first = shared.join("x", one.waiter, script.work);
    one.controller.abort(new Error("left"));
    const second = shared.join("x", two.waiter, script.work);
    await expect(first).rejects.toThrow("left");
    script.finish("done");
    expect(await second).toBe("done");
    expect(script.begun.map(({ aborted }) => aborted)).toEqual([true, false]);
    await expect(shared.join("x", one.waiter, script.work)).rejects.toThrow("left");
    expect(script.begun.length).toBe(2);
  });

  it("is one caller's, and only waited for by the others, until that one leaves", async () => {
    const shared = new SharedWork<string, string>();
    const script = scripted();
    const [one, two, three] = [caller(), caller(), caller()];
    const joined = [one, two, three].map(({ waiter }) => shared.join("x", waiter, script.work));
    script.tell("bytes", "1");
    expect([one.waits, two.waits, three.waits]).toEqual([[false], [true], [true]]);
    two.controller.abort(new Error("left"));
    expect(three.heard).toEqual(["1"]);
    one.controller.abort(new Error("left"));
    // What it waited for is its own now, and it is told so though nothing has moved.
    expect([three.heard, three.waits]).toEqual([
      ["1", "1"],
      [true, false],
    ]);
    script.tell("bytes", "2");
    expect(three.waits).toEqual([true, false, false]);
    script.finish("done");
    expect(await Promise.allSettled(joined)).toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
      { status: "fulfilled", value: "done" },
    ]);
  });

  it("goes on exactly while somebody waits, and tells nobody who has left", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { minLength: 1, maxLength: 12 }), async (leaving) => {
        const shared = new SharedWork<string, string>();
        const script = scripted();
        const callers = Array.from({ length: 5 }, caller);
        const joined = callers.map(({ waiter }) =>
          shared.join("x", waiter, script.work).catch((error: unknown) => (error as Error).message),
        );
        for (const index of leaving) {
          callers[index]!.controller.abort(new Error("left"));
          const waiting = callers.some(({ controller }) => !controller.signal.aborted);
          expect(script.begun[0]!.aborted).toBe(!waiting);
          script.tell("bytes", String(index));
        }
        script.finish("done");
        const left = new Set(leaving);
        expect(await Promise.all(joined)).toEqual(
          callers.map((_, index) => (left.has(index) ? "left" : "done")),
        );
        for (const index of left) {
          const { heard, waits } = callers[index]!;
          // Once more where the work became its own after something had been said.
          const owned = waits.includes(true) && waits.includes(false) && heard.length > 0;
          expect(heard.length).toBe(leaving.indexOf(index) + (owned ? 1 : 0));
        }
      }),
    );
  });
});
