import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SandboxView } from "../src/http/view.js";
import { EventStream, waitAfter } from "../src/page/event-stream.js";
import { EventText } from "../src/page/event-text.js";
import { Sandboxes } from "../src/page/sandboxes.js";
import { ServerClock } from "../src/page/server-clock.js";
import { viewAt } from "./page-views.js";
import { NOW, recordWith } from "./records.js";

describe("the text of an event stream", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "",
      "data: {}",
      "data:x",
      "data",
      "event: sandbox",
      "id: e.7",
      "id",
      ": still here",
      "retry: 5",
    ),
    fc.constantFrom("data:  two", "other: x", "event:", "data: ü 😀"),
  );
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const stream = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(""));

  it("reads as a well-kept parser reads it, however it is cut", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
        const expected: object[] = [];
        const parser = createParser({
          onEvent: ({ event, data, id }) => expected.push({ event: event ?? "message", data, id }),
        });
        // Whole, with one kind of line end: what is compared is the reading, not the cutting.
        parser.feed(text.replace(/\r\n|\r/g, "\n"));
        const ours = new EventText();
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b),
          text.length,
        ];
        const read = places.slice(1).flatMap((to, index) => ours.push(text.slice(places[index], to)));
        expect(read).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("passes over an id with a NUL, as the standard says", () => {
    const [event] = new EventText().push("id: 7\nid: a\0b\ndata: x\n\n");
    expect(event).toEqual({ event: "message", data: "x", id: "7" });
  });
});

/** A server that answers each request as the test says, and a clock that passes at once. */
function scripted(answers: ((last: string | null) => Response)[]) {
  const asked: (string | null)[] = [];
  const events: string[] = [];
  const states: string[] = [];
  const waits: number[] = [];
  const stream = new EventStream({
    open: (last) => {
      asked.push(last);
      const answer = answers.shift();
      if (answer === undefined) {
        stream.close();
        return Promise.reject(new Error("closed"));
      }
      return new Promise((resolve) => resolve(answer(last)));
    },
    onEvent: ({ data }) => void events.push(data),
    onState: (state, detail) => void states.push(detail === "" ? state : `${state}: ${detail}`),
    wait: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  });
  return { stream, asked, events, states, waits };
}

const sends = (text: string) => () => new Response(text);
const fails = (status: number) => () => new Response("{}", { status });
const breaks = (): Response => {
  throw new TypeError("network error");
};

describe("a followed stream", () => {
  it("asks after a break for what came after the last event", async () => {
    const { stream, asked, events, states } = scripted([
      sends("id: e.1\ndata: one\n\nid: e.2\ndata: two\n\nid: e.3\ndata: hal"),
      breaks,
      sends("id: e.3\ndata: three\n\n"),
    ]);
    await stream.run();
    expect(asked).toEqual([null, "e.2", "e.2", "e.3"]);
    expect(events).toEqual(["one", "two", "three"]);
    expect(states).toEqual(["connecting", "live", "lost", "lost: network error", "live", "lost"]);
  });

  it("waits longer after each failure, up to a limit, and starts small after a success", async () => {
    const { stream, waits } = scripted([
      ...Array.from({ length: 7 }, () => breaks),
      sends("data: x\n\n"),
      breaks,
    ]);
    await stream.run();
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000, 250, 500]);
    expect(waitAfter(0)).toBe(250);
    expect(waitAfter(10_000)).toBe(4000);
  });

  it("ends where trying again is of no use, and says why", async () => {
    const refused = scripted([fails(401)]);
    await refused.stream.run();
    expect(refused.states).toEqual(["connecting", "unauthorized"]);
    const gone = scripted([fails(503), fails(404)]);
    await gone.stream.run();
    expect(gone.states).toEqual(["connecting", "lost: the gateway answered 503", "gone"]);
    expect(gone.asked).toHaveLength(2);
  });

  it("rests without a word, and goes on where it was", async () => {
    const { stream, asked, states, waits } = scripted([
      () => {
        stream.rest();
        return new Response("id: 4\ndata: x\n\n");
      },
      sends("data: y\n\n"),
    ]);
    const running = stream.run();
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toEqual([null]);
    stream.wake();
    await running;
    expect(asked).toEqual([null, "4", "4"]);
    expect(states).toEqual(["connecting", "live", "connecting", "live", "lost"]);
    expect(waits).toHaveLength(1);
  });

  it("that is closed while it rests is over", async () => {
    const { stream, asked } = scripted([sends("")]);
    stream.rest();
    const running = stream.run();
    stream.close();
    await running;
    expect(asked).toEqual([]);
  });
});

describe("the sandboxes of a page", () => {
  const seen = (id: string, version: number): SandboxView => ({
    ...viewAt(recordWith({ id }), NOW),
    version,
  });
  const sent = (event: string, value: unknown) => ({ event, data: JSON.stringify(value), id: undefined });

  it("are the newest of what was heard, whatever order and however often", () => {
    const news = fc.array(
      fc.record({ id: fc.constantFrom("a", "b", "c"), version: fc.integer({ min: 1, max: 9 }) }),
    );
    fc.assert(
      fc.property(news, (heard) => {
        const sandboxes = new Sandboxes(() => undefined);
        for (const { id, version } of heard) sandboxes.apply(sent("sandbox", seen(id, version)));
        for (const id of ["a", "b", "c"]) {
          const newest = Math.max(0, ...heard.filter((each) => each.id === id).map(({ version }) => version));
          expect(sandboxes.get(id)?.version ?? 0).toBe(newest);
        }
      }),
    );
  });

  it("of one version are shown as they were seen last: gates change without a write", () => {
    const sandboxes = new Sandboxes(() => undefined);
    sandboxes.put(seen("a", 3));
    const later = { ...seen("a", 3), message: "later" };
    sandboxes.put(later);
    expect(sandboxes.get("a")).toBe(later);
  });

  it("that are gone stay gone, whatever comes late", () => {
    const changes: string[] = [];
    const sandboxes = new Sandboxes((id, before, after) =>
      changes.push(`${id} ${before?.version ?? "-"} ${after?.version ?? "-"}`),
    );
    sandboxes.apply(sent("sandbox", seen("a", 1)));
    sandboxes.apply(sent("deleted", { id: "a" }));
    sandboxes.apply(sent("deleted", { id: "a" }));
    sandboxes.apply(sent("sandbox", seen("a", 9)));
    expect(sandboxes.size).toBe(0);
    expect(changes).toEqual(["a - 1", "a 1 -"]);
  });

  it("that a whole snapshot does not have are gone, and only then", () => {
    const sandboxes = new Sandboxes(() => undefined);
    sandboxes.apply(sent("reset", {}));
    for (const id of ["a", "b"]) sandboxes.apply(sent("sandbox", seen(id, 1)));
    expect(sandboxes.complete).toBe(false);
    sandboxes.apply(sent("snapshot", {}));
    expect(sandboxes.complete).toBe(true);
    // Broken off in the middle, and begun again.
    sandboxes.apply(sent("reset", {}));
    sandboxes.apply(sent("sandbox", seen("a", 1)));
    sandboxes.apply(sent("reset", {}));
    sandboxes.apply(sent("sandbox", seen("b", 1)));
    expect(sandboxes.size).toBe(2);
    sandboxes.apply(sent("snapshot", {}));
    expect([...sandboxes.values()].map(({ id }) => id)).toEqual(["b"]);
  });

  it("pass over events of a newer gateway", () => {
    const sandboxes = new Sandboxes(() => undefined);
    sandboxes.apply({ event: "weather", data: "not JSON", id: undefined });
    expect(sandboxes.size).toBe(0);
  });
});

describe("the server's clock", () => {
  it("is off by half a round trip at most, whatever this machine's clock says", () => {
    const ms = fc.integer({ min: 0, max: 5000 });
    fc.assert(
      fc.property(
        fc.maxSafeNat().map((at) => at / 4),
        ms,
        ms,
        fc.integer(),
        (server, there, back, guess) => {
          let steady = 1000;
          const clock = new ServerClock(() => steady, guess);
          expect(clock.now()).toBeCloseTo(guess, 0);
          steady += there + back;
          clock.measure(server + there, 1000, steady);
          expect(Math.abs(clock.now() - (server + there + back))).toBeLessThanOrEqual((there + back) / 2 + 1);
        },
      ),
    );
  });

  it("keeps the better measurement, until it is old or the clock was set", () => {
    let steady = 0;
    const clock = new ServerClock(() => steady, 0);
    clock.measure(1_000_000, 0, 0);
    clock.measure(1_000_900, 0, 1000);
    expect(clock.now()).toBe(1_000_000);
    clock.measure(5_000_000, 0, 1000);
    expect(clock.now()).toBe(4_999_500);
    steady = 600_000;
    clock.measure(5_600_000, 599_000, 600_000);
    expect(clock.now()).toBe(5_600_500);
  });
});
