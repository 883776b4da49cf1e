import { derivePhase } from "../../src/phase/derive-phase.js";
import type { SandboxRecord } from "../../src/phase/record.js";
import { observeOpenShellStatus, type OpenShellStatusInput } from "../../src/phase/observe/openshell.js";

export type Json = Record<string, unknown>;

export const ready = (status: string, reason: string): Json => ({ type: "Ready", status, reason });
export const see = (
  conditions: unknown,
  more: Partial<OpenShellStatusInput> = {},
): ReturnType<typeof observeOpenShellStatus> => observeOpenShellStatus({ status: { conditions }, ...more });

const record: SandboxRecord = { phase: "Provisioning", desired: "running", since: 0 };
export const phaseOf = (conditions: unknown, more: Partial<OpenShellStatusInput> = {}): string =>
  derivePhase({ record, observation: see(conditions, more), now: 0 }).phase;
