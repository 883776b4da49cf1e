import fc from "fast-check";
import {
  type Condition,
  convertConditions,
  defineReasonCatalog,
  type ReasonCatalog,
  type ReasonEmission,
} from "../../src/conditions/index.js";

export const TYPES = ["Ready", "Other"];
const NAMES = ["A", "B", "C", "W"];
const classes = fc.constantFrom("terminal" as const, "waiting" as const);
const since = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const name = fc.constantFrom(...NAMES);
export const emission: fc.Arbitrary<ReasonEmission> = fc.record({
  operation: fc.constantFrom("create", "start"),
  cause: fc.constantFrom("x", "y"),
  type: fc.constantFrom(...TYPES),
  reason: name,
  generalReasons: fc.uniqueArray(name, { maxLength: 2 }),
  since,
});
export const anyCatalog = fc
  .record({
    contract: fc.integer({ min: 1, max: 3 }),
    classes: fc.array(classes, { minLength: 4, maxLength: 4 }),
    sinces: fc.array(since, { minLength: 4, maxLength: 4 }),
    names: fc.subarray(NAMES, { minLength: 1 }),
    retired: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
    emits: fc.array(emission, { maxLength: 5 }),
  })
  .map((parts): ReasonCatalog | undefined => {
    const reasons = Object.fromEntries(
      parts.names.map((reason) => {
        const index = NAMES.indexOf(reason);
        return [
          reason,
          {
            types: TYPES,
            class: parts.classes[index],
            since: Math.min(parts.sinces[index] ?? 1, parts.contract),
            summary: "s",
          },
        ];
      }),
    );
    const retired =
      parts.retired !== undefined && !(parts.retired in reasons) && parts.contract > 1
        ? { [parts.retired]: { retiredIn: 2 } }
        : {};
    const type = { polarity: "neutral", presence: "always", summary: "s" };
    const catalog = {
      name: "c",
      contract: parts.contract,
      types: { Ready: type, Other: type },
      reasons,
      retired,
      emits: parts.emits,
    };
    try {
      return defineReasonCatalog(catalog as never);
    } catch {
      return undefined;
    }
  })
  .filter((catalog) => catalog !== undefined);

/** What a server with this catalog publishes in a situation to a reader of a contract. */
export function publish(
  catalog: ReasonCatalog,
  operation: string,
  cause: string,
  contract: number,
): readonly Condition[] {
  // A writer does not know its readers: it stores one condition of a type, in the newest form that it has.
  const current = new Map<string, ReasonEmission>();
  const inOrder = [...catalog.emits].sort((a, b) => (a.since ?? 1) - (b.since ?? 1));
  for (const each of inOrder) {
    if (each.operation === operation && each.cause === cause) current.set(each.type, each);
  }
  const stored = [...current.values()].map(
    ({ type, reason, generalReasons }): Condition => ({
      type,
      status: "False",
      reason,
      message: "",
      lastTransitionTime: "",
      generalReasons: generalReasons ?? [],
    }),
  );
  return convertConditions(stored, { catalog, contract });
}
