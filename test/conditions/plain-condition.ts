import { parseConditions } from "../../src/conditions/index.js";

export const plain = {
  type: "Ready",
  status: "True",
  reason: "A",
  message: "m",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
export const one = (value: unknown) => parseConditions([value])[0];
