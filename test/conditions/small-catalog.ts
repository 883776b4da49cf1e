import { defineReasonCatalog } from "../../src/conditions/index.js";

export const ready = { polarity: "positive", presence: "always", summary: "Ready." } as const;
export const entry = { types: ["Ready"], class: "terminal", summary: "A sentence." } as const;
export const base = {
  name: "test",
  contract: 2,
  types: { Ready: ready },
  reasons: { A: entry, B: entry, Wait: { ...entry, class: "waiting" } },
  emits: [],
} as const;
export const define = (part: object) => defineReasonCatalog({ ...base, ...part });
