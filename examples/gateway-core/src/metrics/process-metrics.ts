import { Registry, collectDefaultMetrics } from "prom-client";

let collected: Registry | null = null;

/** What Node tells of this process: one for all gateways in it, since its observers are never taken back. */
export function processMetrics(): Registry {
  if (collected !== null) return collected;
  collected = new Registry();
  collectDefaultMetrics({ register: collected });
  return collected;
}
