import type { ObservationSourceSubject } from "slipway/testing";
import type { Driver, LaunchRequest } from "../driver/driver.js";

export interface DriverSubjectOptions {
  readonly driver: Driver;
  /** What a start is asked with; id, instance and run are the suite's. */
  readonly request: Omit<LaunchRequest, "sandbox" | "instance">;
  /** Lets a call come to its end where time passes by a test's hand only. */
  readonly during?: (<T>(work: Promise<T>) => Promise<T>) | undefined;
  readonly breakBackend?: (() => Promise<unknown>) | undefined;
}

/** A driver as `observationSourceConformance` of `slipway/testing` wants it: over a backend that has nothing yet. */
export function driverSubject(options: DriverSubjectOptions): ObservationSourceSubject {
  const { driver, request, during = <T>(work: Promise<T>) => work, breakBackend } = options;
  const { signal } = new AbortController();
  let runs = 0;
  return {
    source: {
      list: (cursor, signal) => during(driver.list(cursor, { signal })),
      get: async (id, run, signal) => {
        const observation = await during(driver.observe({ id, name: id }, run, null, { signal }));
        return observation === null ? null : { id, observation };
      },
      watch: (signal) => driver.watch({ signal }),
    },
    start: (id, instanceId) => {
      runs += 1;
      const instance = { id: instanceId, attemptNumber: 1, run: runs };
      const launch = { ...request, sandbox: { id, name: id }, instance };
      return during(driver.launch(launch, { signal, report: () => undefined }));
    },
    remove: (id) => during(driver.remove({ id, name: id }, { signal })),
    breakBackend,
  };
}
