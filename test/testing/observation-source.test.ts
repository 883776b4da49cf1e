import { describe, expect, it } from "vitest";
import { failed } from "./failed-cases.js";
import type { ExpectedRun, WatchEvent } from "../../src/phase/index.js";
import { observationSourceConformance } from "../../src/testing/index.js";
import { ScriptedSource } from "./scripted-source.js";

/** How a source may be wrong, each by one small change of a right one. */
class BrokenSource extends ScriptedSource {
  readonly fault: string;
  readonly firsts = new Map<string, string>();

  constructor(fault: string) {
    super();
    this.fault = fault;
  }

  override async list(cursor: string | null) {
    if (this.fault === "an outage is an empty listing")
      return super.list(cursor).catch(() => ({ items: [], cursor: null }));
    const page = await super.list(cursor);
    if (this.fault === "one page only") return { ...page, cursor: null };
    return page;
  }

  override async get(id: string, run: ExpectedRun) {
    switch (this.fault) {
      case "an outage is a not-found":
        return super
          .get(id, run)
          .catch(() => ({ id, observation: { ...this.observation("nobody"), observedAt: null } }));
      case "nothing is no observation":
        return this.running.has(id) ? super.get(id, run) : null;
      case "a prefix is enough": {
        const [found] = [...this.running.keys()].filter((other) => other.startsWith(id));
        const seen = await super.get(found ?? id, run);
        return seen && { ...seen, id };
      }
      case "whatever runs is what was asked for": {
        const seen = await super.get(id, {});
        const { observation } = seen ?? { observation: this.observation(id) };
        const instanceId = observation.running === true ? (run.instanceId ?? null) : null;
        return { id, observation: { ...observation, instanceId } };
      }
      case "the first run for ever": {
        const seen = await super.get(id, run);
        const first = this.firsts.get(id) ?? seen?.observation.instanceId ?? null;
        if (first !== null) this.firsts.set(id, first);
        return seen && { id, observation: { ...seen.observation, instanceId: first } };
      }
      case "never runs": {
        const seen = await super.get(id, run);
        return seen && { id, observation: { ...seen.observation, running: null } };
      }
      default:
        return super.get(id, run);
    }
  }

  override async *watch(signal: AbortSignal): AsyncIterable<WatchEvent> {
    if (this.fault === "no news") return;
    if (this.fault === "watches for ever") {
      yield* super.watch(new AbortController().signal);
      return;
    }
    for await (const event of super.watch(signal)) {
      if (this.fault === "no news of an end" && event.type === "deleted") continue;
      yield event;
    }
  }
}

const SOURCE_FAULTS = [
  "an outage is an empty listing",
  "one page only",
  "an outage is a not-found",
  "nothing is no observation",
  "a prefix is enough",
  "whatever runs is what was asked for",
  "never runs",
  "no news",
  "no news of an end",
  "the first run for ever",
  "watches for ever",
];

describe("the conformance suite of observation sources", () => {
  it.each(observationSourceConformance.map((each) => [each.name, each] as const))(
    "scripted: %s",
    async (_, { run }) => {
      await run(() => new ScriptedSource());
    },
  );

  it("catches every fault, and each case catches one", async () => {
    const caught = new Set<string>();
    for (const fault of SOURCE_FAULTS) {
      const names = await failed(observationSourceConformance, () => new BrokenSource(fault));
      expect(names, fault).not.toEqual([]);
      for (const name of names) caught.add(name);
    }
    expect([...caught].sort()).toEqual(observationSourceConformance.map(({ name }) => name).sort());
  });
});
