import { condition, type Json, pod } from "./sandbox-resources.js";

export const up = condition("Ready", "True", "AllUp");
export const one = { items: [pod()] };
const withPod = (status: Json, more: Json = {}): { readonly items: readonly Json[] } => {
  const base = pod();
  const { status: before } = base;
  return { items: [{ ...base, ...more, status: { ...(before as Json), ...status } }] };
};
export const waits = (reason: string): { readonly items: readonly Json[] } =>
  withPod({
    phase: "Pending",
    conditions: [{ type: "Ready", status: "False" }],
    containerStatuses: [{ name: "agent", state: { waiting: { reason } } }],
  });
