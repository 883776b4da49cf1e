import fc from "fast-check";
import { type Condition, convertConditions, defineReasonCatalog } from "../../src/conditions/index.js";

export const catalog = defineReasonCatalog({
  name: "three",
  contract: 3,
  types: { Ready: { polarity: "positive", presence: "always", summary: "Ready." } },
  reasons: {
    Timeout: { types: ["Ready"], class: "terminal", summary: "s" },
    Waiting: { types: ["Ready"], class: "waiting", summary: "s" },
    Mismatch: { types: ["Ready"], class: "terminal", since: 2, summary: "s" },
    Hiccup: { types: ["Ready"], class: "transient", since: 2, summary: "s" },
    BiosMismatch: { types: ["Ready"], class: "terminal", since: 3, summary: "s" },
  },
  retired: { Ancient: { retiredIn: 2 } },
});
const words = [
  ...Object.keys(catalog.reasons),
  "Ancient",
  "waiting",
  "TIMEOUT",
  "Foreign",
  "",
  "__proto__",
  "constructor",
];
export const word = fc.constantFrom(...words);
export const cause = fc.record({ reason: word, message: fc.constantFrom("", "m") });

export const to = (conditions: readonly Condition[], number: number) =>
  convertConditions(conditions, { catalog, contract: number });
