import type { ActivationEntry } from "../../src/retry/index.js";

export const entry = (state: ActivationEntry["state"], claim: string | null = "other"): ActivationEntry => ({
  state,
  version: 1,
  claim,
  at: 0,
});
