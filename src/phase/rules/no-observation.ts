import { hold } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

export const noObservation: readonly PhaseRule[] = [
  {
    name: "no-observation",
    group: "1. No observation",
    condition: "The look-up failed: nothing was learnt, not even whether the object exists.",
    outcome: "The record is held.",
    phases: ["held"],
    rationale:
      "A transport error, a refusal or a 5xx says nothing about the sandbox; stopping a daemon once turned healthy sandboxes into permanent errors (NVIDIA/OpenShell#3440). Only a definite not-found is absence.",
    uses: ["exists"],
    holds: true,
    on: { exists: null },
    when: ({ observation }) => observation.exists === null,
    decide: (context) => hold(context, "BackendUnreachable"),
  },
];
