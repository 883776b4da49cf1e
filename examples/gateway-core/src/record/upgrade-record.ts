/**
 * A record as an earlier version of this gateway wrote it, in the shape of this one. Anything else is left as it is:
 * the strict schema says what is wrong with it.
 */
export function upgradeRecord(value: unknown): unknown {
  if (!isObject(value) || value["schemaVersion"] !== 1) return value;
  const { instance } = value;
  return {
    ...value,
    schemaVersion: 2,
    updatedAt: value["since"],
    previousFinishedAt: null,
    isolationBackend: null,
    restarts: 0,
    restartAt: null,
    // Version 1 wrote a handle exactly when the driver had started the supervisor.
    instance: isObject(instance)
      ? { ...instance, launchedAt: instance["handle"] === null ? null : instance["startedAt"] }
      : instance,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
