import {
  defineReasonCatalog,
  extendCatalog,
  type KnownReason,
  type Reason,
  type ReasonOf,
  ReasonV1,
  ReasonV2,
  sandboxReasons,
} from "./index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Claim extends true>(): Claim | undefined => undefined;

// The union comes out of the definition, and the built-in one is the list of names.
holds<Same<ReasonOf<typeof sandboxReasons>, KnownReason>>();
holds<Same<typeof ReasonV2.IsolationBackendMismatch, "IsolationBackendMismatch">>();
holds<Same<Exclude<ReasonV2, ReasonV1>, "IsolationBackendMismatch" | "IsolationBackendMatches">>();

// A reader's reason is open; a writer's is closed.
export const fromPeer: Reason = "FromTheFuture";
export const written: KnownReason = ReasonV1.Starting;
// @ts-expect-error a writer cannot invent a reason
export const invented: KnownReason = "FromTheFuture";
// @ts-expect-error contract 1 does not have it
export const early = ReasonV1.IsolationBackendMismatch;
// @ts-expect-error the list is frozen
ReasonV1.Starting = "Starting";

const type = { polarity: "positive", presence: "always", summary: "s" } as const;
const own = defineReasonCatalog({
  name: "own",
  contract: 1,
  types: { Ready: type },
  reasons: {
    Slow: { types: ["Ready"], class: "transient", summary: "s" },
    Broken: { types: ["Ready"], class: "terminal", summary: "s", replacedBy: "Slow" },
  },
  retired: {},
});
holds<Same<ReasonOf<typeof own>, "Slow" | "Broken">>();

/** Every reason has its arm; a new one fails to compile here. */
export function exhaustive(reason: ReasonOf<typeof own>): number {
  switch (reason) {
    case "Slow":
      return 1;
    case "Broken":
      return 2;
    default:
      return reason satisfies never;
  }
}

export function forgetful(reason: ReasonOf<typeof own>): number {
  switch (reason) {
    case "Slow":
      return 1;
    default:
      // @ts-expect-error Broken has no arm
      return reason satisfies never;
  }
}

defineReasonCatalog({
  name: "wrong",
  contract: 1,
  types: { Ready: type },
  // @ts-expect-error the type is misspelt
  reasons: { Slow: { types: ["Raedy"], class: "transient", summary: "s" } },
});
defineReasonCatalog({
  name: "wrong",
  contract: 1,
  types: { Ready: type },
  // @ts-expect-error there is no such class
  reasons: { Slow: { types: ["Ready"], class: "slow", summary: "s" } },
});
defineReasonCatalog({
  name: "wrong",
  contract: 1,
  types: { Ready: type },
  reasons: { Slow: { types: ["Ready"], class: "transient", summary: "s" } },
  // @ts-expect-error there is no such reason
  emits: [{ operation: "o", cause: "c", type: "Ready", reason: "Slwo" }],
});

const extended = extendCatalog(sandboxReasons, {
  prefix: "Acme",
  reasons: { AcmeLicenseMissing: { types: ["Ready"], class: "terminal", summary: "s" } },
  emits: [
    {
      operation: "o",
      cause: "c",
      type: "Ready",
      reason: "AcmeLicenseMissing",
      generalReasons: ["StartFailed"],
    },
  ],
});
holds<Same<ReasonOf<typeof extended>, KnownReason | "AcmeLicenseMissing">>();
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error the prefix is missing
  reasons: { LicenseMissing: { types: ["Ready"], class: "terminal", summary: "s" } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  types: { AcmeLicensed: type },
  reasons: {
    AcmeOld: { types: ["Ready", "AcmeLicensed"], class: "terminal", summary: "s", replacedBy: "StartFailed" },
    AcmeNew: { types: ["AcmeLicensed"], class: "terminal", summary: "s", refines: ["AcmeOld"] },
  },
  retired: { AcmeGone: { retiredIn: 2 } },
  emits: [
    { operation: "o", cause: "c", type: "AcmeLicensed", reason: "AcmeNew", generalReasons: ["AcmeGone"] },
  ],
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error the type is misspelt
  reasons: { AcmeA: { types: ["Raedy"], class: "terminal", summary: "s" } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error it is replaced by nothing known
  reasons: { AcmeA: { types: ["Ready"], class: "terminal", summary: "s", replacedBy: "StratFailed" } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error it refines nothing known
  reasons: { AcmeA: { types: ["Ready"], class: "terminal", summary: "s", refines: ["StratFailed"] } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  reasons: { AcmeA: { types: ["Ready"], class: "terminal", summary: "s" } },
  // @ts-expect-error there is no such condition type
  emits: [{ operation: "o", cause: "c", type: "Raedy", reason: "AcmeA" }],
});
