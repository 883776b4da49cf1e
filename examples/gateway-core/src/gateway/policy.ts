import type { PhasePolicy } from "slipway";
import type { Driver } from "../driver/driver.js";

/** What whoever runs a gateway decides for all of its drivers. */
export interface PolicyOptions {
  /** Reasons of an error after which a sandbox is started again by itself, beside those that its driver names. */
  readonly restartOn: readonly string[];
  /** Stop what runs when the gateway ends and start it when it is back. Absent: as each driver says. */
  readonly managesLifecycle?: boolean | undefined;
}

/**
 * What the phase rules have to know of a driver. A launch makes what it needs, so that an object which is gone after
 * a stop is what a stop looks like, unless the driver says otherwise.
 */
export function policyOf({ policy }: Driver, { restartOn }: PolicyOptions): PhasePolicy {
  const recoverable = [...new Set([...(policy?.recoverable ?? []), ...restartOn])];
  return { removesComputeOnStop: true, ...policy, recoverable };
}

export function managesLifecycle(driver: Driver, { managesLifecycle: asked }: PolicyOptions): boolean {
  return asked ?? driver.managesLifecycle ?? false;
}
