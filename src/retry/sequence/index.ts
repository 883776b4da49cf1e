export {
  applyActivation,
  completeActivation,
  stopActivation,
  type ActivationEntry,
  type ActivationEvent,
  type ActivationLedger,
  type ActivationState,
  type ActivationStep,
} from "./activation.js";
export {
  bootstrapSequence,
  type ActivateContext,
  type BootstrapSequenceOptions,
  type BootstrapSequenceResult,
  type BootstrapStep,
  type StepContext,
} from "./bootstrap-sequence.js";
