/** How a release of the agent-sandbox controller differs from others, as far as its clients can see it. */
export interface ReleaseTraits {
  /** The version that it stores and writes. */
  readonly version: "v1alpha1" | "v1beta1";
  /** Ready=True at zero replicas, with no pod or with one that still terminates. */
  readonly readyWhenStopped: boolean;
  /** A Finished condition once the pod has ended. */
  readonly finished: boolean;
  /** Ready carries PodSucceeded or PodFailed once the pod has ended; else it stays DependenciesNotReady. */
  readonly readyTellsEnd: boolean;
  /** Suspended: not known, set on suspend and never cleared, or always there and right. */
  readonly suspended: "absent" | "never cleared" | "always";
  readonly terminatingReason: "PodNotTerminated" | "PodTerminating";
  /** PodScheduled mirrored from the pod, and MultiplePods told. */
  readonly mirrorsPod: boolean;
  /** A headless Service for every sandbox; else only where the spec asks for one. */
  readonly alwaysService: boolean;
}

const EARLY: ReleaseTraits = {
  version: "v1alpha1",
  readyWhenStopped: true,
  finished: false,
  readyTellsEnd: false,
  suspended: "absent",
  terminatingReason: "PodNotTerminated",
  mirrorsPod: false,
  alwaysService: true,
};

const BETA: ReleaseTraits = {
  ...EARLY,
  version: "v1beta1",
  readyWhenStopped: false,
  finished: true,
  readyTellsEnd: true,
  suspended: "never cleared",
  alwaysService: false,
};

const PERMANENT: ReleaseTraits = { ...BETA, suspended: "always", terminatingReason: "PodTerminating" };

/** The releases by what they publish; those between behave as the one before them. */
export const RELEASES = {
  "0.4.2": EARLY,
  "0.4.6": { ...EARLY, finished: true },
  "0.5.0": BETA,
  "0.5.3": BETA,
  "0.5.4": PERMANENT,
  "0.5.6": { ...PERMANENT, mirrorsPod: true },
} as const satisfies Readonly<Record<string, ReleaseTraits>>;

export type Release = keyof typeof RELEASES;
