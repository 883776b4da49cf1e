import { gatesOf } from "../../../examples/gateway-core/src/decide/gates.js";
import type { SandboxHistory, Violation } from "./history.js";

const AROUND = { observation: null, backendMatches: null, policy: {} } as const;

/** In every state a user can do something, and what was asked for comes to an end. */
export function everyStateOperable({ id, versions, end }: SandboxHistory): Violation[] {
  const found: Violation[] = [];
  for (const { version, at, record } of versions) {
    if (record === null) continue;
    const { start, stop, delete: remove } = gatesOf(record, AROUND, "user", Math.round(at));
    if ([start, stop, remove].some(({ allowed }) => allowed)) continue;
    const detail = `no operation is open in phase ${record.phase}`;
    found.push({ rule: "not-operable", sandbox: id, version, detail });
  }
  if (end.restless !== null) {
    const { phase, reason, desired, startPending, deadline } = versions.at(-1)?.record ?? {};
    const state = JSON.stringify({ phase, reason, desired, startPending, deadline: deadline?.status });
    const detail = `never came to rest (${end.restless}): ${state}`;
    found.push({ rule: "not-operable", sandbox: id, version: end.version, detail });
  }
  return found;
}
