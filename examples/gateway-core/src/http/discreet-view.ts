import { secretsOf, withoutSecrets } from "../gateway/secrets.js";
import type { SandboxRecord } from "../record/record.js";
import type { DeadlineView, SandboxView } from "./view.js";

/**
 * The view without the sandbox's own secrets in anything that somebody else worded: a backend, a driver or its client, a
 * supervisor. What the user worded, command and image, is the user's to keep clean.
 */
export function discreetView(view: SandboxView, record: SandboxRecord): SandboxView {
  const secrets = secretsOf(record);
  const hide = <T extends string | null>(text: T): T =>
    (text === null ? text : withoutSecrets(text, secrets)) as T;
  const { decision, deadline } = view;
  return {
    ...view,
    message: hide(view.message),
    decision: { ...decision, message: hide(decision.message) },
    conditions: view.conditions.map((condition) => {
      const { message, cause } = condition;
      return {
        ...condition,
        message: hide(message),
        ...(cause === undefined
          ? undefined
          : { cause: { reason: hide(cause.reason), message: hide(cause.message) } }),
      };
    }),
    deadline: deadline && discreetDeadline(deadline, hide),
    steps: view.steps.map((step) => ({
      ...step,
      label: hide(step.label),
      activeLabel: hide(step.activeLabel),
      // The image's own step is about what the user called it.
      subject: step.subject === view.image.name ? step.subject : hide(step.subject),
    })),
  };
}

function discreetDeadline(
  deadline: DeadlineView,
  hide: <T extends string | null>(text: T) => T,
): DeadlineView {
  const { rejection, expiry, cleanup } = deadline;
  return {
    ...deadline,
    rejection: rejection && { ...rejection, message: hide(rejection.message) },
    expiry: expiry && { ...expiry, message: hide(expiry.message) },
    cleanup: { ...cleanup, error: hide(cleanup.error) },
  };
}
