import { isGoing } from "../evidence.js";
import { always, hold } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

export const deleting: readonly PhaseRule[] = [
  {
    name: "object-deleting",
    group: "2. Deleting",
    condition: "The durable object is being removed.",
    outcome: "`Deleting`",
    phases: ["Deleting"],
    rationale:
      "Conditions freeze once an object is being removed, so nothing else that it shows may count any more; this outranks a recorded result too.",
    uses: ["exists", "deleting"],
    holds: false,
    on: { exists: true },
    when: ({ observation }) => observation.exists === true && observation.deleting === true,
    decide: always("Deleting", "Deleting", "The backend is removing the sandbox."),
  },
  {
    name: "delete-intent",
    group: "2. Deleting",
    condition: "Delete was accepted and the object is still there.",
    outcome: "`Deleting`",
    phases: ["Deleting"],
    rationale: "A finalizer of somebody else may hold the object for long; the accepted delete stands.",
    uses: ["exists", "record.desired"],
    holds: false,
    on: { exists: true, desired: "deleted" },
    when: ({ observation, record }) => observation.exists === true && record.desired === "deleted",
    decide: always("Deleting", "Deleting", "Delete was accepted; the object is still there."),
  },
  {
    name: "deleting-unconfirmed",
    group: "2. Deleting",
    condition:
      "The record is `Deleting` without delete intent, and whether the object is still being removed is unknown.",
    outcome: "The record is held.",
    phases: ["Deleting"],
    rationale:
      "The removal was seen once; only an object that is definitely not being removed takes it back.",
    uses: ["exists", "deleting", "record.phase"],
    holds: true,
    on: { exists: true },
    when: ({ observation, record }) =>
      observation.exists === true && record.phase === "Deleting" && observation.deleting === null,
    decide: (context) => hold(context, "Deleting"),
  },
  {
    name: "deleted",
    group: "2. Deleting",
    condition: "Definitely gone, after delete intent or after the removal was seen.",
    outcome: "`Deleted`",
    phases: ["Deleted"],
    rationale: "Not-found after a delete closes the life of the sandbox.",
    uses: ["exists", "record.desired", "record.phase"],
    holds: false,
    on: { exists: false },
    when: (context) => context.observation.exists === false && isGoing(context),
    decide: always("Deleted", "Deleted", "The backend object is gone after a delete."),
  },
];
