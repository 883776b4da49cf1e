import type { DesiredState, Tri } from "../../src/phase/index.js";

export const NOW = 1_800_000_000_000;

export const tri: readonly Tri[] = [true, false, null];
export const intents: readonly DesiredState[] = ["running", "stopped", "deleted"];
