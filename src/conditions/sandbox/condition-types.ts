/** The condition types of a sandbox: what `True` means, and when the type is in the list. */
export const sandboxTypes = {
  Ready: {
    polarity: "positive",
    presence: "always",
    summary: "The sandbox can be used: its workload runs and its supervisor is connected.",
  },
  ConfigurationReady: {
    polarity: "positive",
    presence: "once-reached",
    summary: "The configuration in force was admitted.",
  },
  DesiredConfigurationReady: {
    polarity: "positive",
    presence: "once-reached",
    summary: "The configuration asked for was admitted.",
  },
  IsolationBackendMatched: {
    polarity: "positive",
    presence: "once-reached",
    summary: "The gateway selects the isolation backend that the sandbox is pinned to.",
  },
  PodScheduled: {
    polarity: "positive",
    presence: "while-true",
    summary: "The pod has a node. Mirrored from the pod.",
  },
  Bootstrapping: {
    polarity: "neutral",
    presence: "while-true",
    summary: "The supervisor prepares the sandbox.",
  },
  Bootstrapped: {
    polarity: "positive",
    presence: "once-reached",
    summary: "Every bootstrap step succeeded.",
  },
  Suspended: {
    polarity: "neutral",
    presence: "once-reached",
    summary: "The workload is suspended.",
  },
  Stopped: {
    polarity: "neutral",
    presence: "while-true",
    summary: "The compute of a VM is stopped.",
  },
  Finished: {
    polarity: "neutral",
    presence: "once-reached",
    summary: "The workload ended by itself.",
  },
  DisruptionTarget: {
    polarity: "negative",
    presence: "while-true",
    summary: "The pod is about to be ended by the cluster.",
  },
} as const;
