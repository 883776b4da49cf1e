import { COMPUTE_RESOURCE_MISSING } from "../reasons.js";
import { isStopIntent } from "./intent.js";
import { always, hold } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

export const goneWithoutDeleteIntent: readonly PhaseRule[] = [
  {
    name: "gone-kept",
    group: "3. Gone without delete intent",
    condition: "Definitely gone while the record is `Provisioning`, `Unknown`, `Completed` or `Error`.",
    outcome: "The record is held; `prune-candidate` unless it carries a result worth keeping.",
    phases: ["Provisioning", "Unknown", "Completed", "Error"],
    rationale:
      "A create that was accepted a moment ago is missing from a lagging cache, and a result outlives its compute object.",
    uses: ["exists", "record.phase"],
    holds: false,
    on: { exists: false },
    when: ({ observation, record }) =>
      observation.exists === false &&
      (record.phase === "Provisioning" ||
        record.phase === "Unknown" ||
        record.phase === "Completed" ||
        record.phase === "Error"),
    decide: (context) => hold(context, COMPUTE_RESOURCE_MISSING),
  },
  {
    name: "gone-is-stopped",
    group: "3. Gone without delete intent",
    condition: "Definitely gone under stop intent, and the driver removes compute when it stops.",
    outcome: "`Stopped`",
    phases: ["Stopped"],
    rationale: "For such a driver absence is what a finished stop looks like.",
    uses: ["exists", "record.desired", "record.phase", "policy"],
    holds: false,
    on: { exists: false },
    when: (context) =>
      context.observation.exists === false &&
      context.policy?.removesComputeOnStop === true &&
      (isStopIntent(context) || context.record.phase === "Stopped"),
    decide: always("Stopped", "Stopped", "Stopped; the driver keeps no compute object."),
  },
  {
    name: "gone-is-error",
    group: "3. Gone without delete intent",
    condition: "Definitely gone while the record is `Starting`, `Stopping`, `Ready` or `Stopped`.",
    outcome: "`Error` / `ComputeResourceMissing`",
    phases: ["Error"],
    rationale:
      "Each of these phases promised that the object is kept, so its loss is an error and not a silent removal.",
    uses: ["exists", "record.phase"],
    holds: false,
    on: { exists: false },
    when: ({ observation }) => observation.exists === false,
    decide: always(
      "Error",
      COMPUTE_RESOURCE_MISSING,
      "The compute object is gone although nobody asked to delete it.",
    ),
  },
];
