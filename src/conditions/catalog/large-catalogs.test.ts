import { describe, expect, it } from "vitest";
import { compareCatalogs, type ReasonCatalog } from "../index.js";

describe("comparing large catalogs", () => {
  /** How often any table was gone through, and any emission read, for so many reasons. */
  function readsFor(count: number, shift: number): number {
    let reads = 0;
    const counted = <T extends object>(table: T): T =>
      new Proxy(table, {
        ownKeys: (target) => {
          reads += Object.keys(target).length;
          return Reflect.ownKeys(target);
        },
        get: (target, key, self) => {
          reads += 1;
          return Reflect.get(target, key, self) as unknown;
        },
      });
    const catalogOf = (moved: number, prefix: string): ReasonCatalog => ({
      name: "many",
      contract: 1,
      types: { Ready: { polarity: "positive", presence: "always", summary: "It can be used." } },
      reasons: counted(
        Object.fromEntries(
          Array.from({ length: count }, (_, at) => [
            `${prefix}${at}`,
            {
              types: ["Ready"],
              class: "transient" as const,
              summary: "One of many.",
              sources: [{ backend: "docker", raw: [`Word${(at + moved) % count}`] }],
            },
          ]),
        ),
      ),
      retired: counted(
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`Gone${at}`, { retiredIn: 1 }])),
      ),
      emits: counted(
        Array.from({ length: count }, (_, at) => ({
          operation: "op",
          cause: `cause-${at}`,
          type: "Ready",
          reason: `${prefix}${at}`,
        })),
      ),
    });
    compareCatalogs(catalogOf(0, "Reason"), catalogOf(shift, shift === 0 ? "New" : "Reason"));
    return reads;
  }

  it.each([
    ["every word moved", 1],
    ["every reason is another", 0],
  ])("goes through neither once for each of their reasons: %s", (_, shift) => {
    const [few, many] = [readsFor(50, shift), readsFor(200, shift)];
    expect(many / few).toBeLessThan(5);
  });
});
