import type { AttemptContext, Classifier } from "slipway/retry";
import { InvalidInputError } from "../input-error.js";
import { parsePolicy, type Policy } from "../policy/policy.js";
import type { Enforcement } from "./enforcement/enforcement.js";
import { AnswerError, DismissedError, type GatewayLink } from "./gateway-link.js";

/** How long the gateway is asked to hold a question for a newer configuration. */
export const WAIT_MS = 20_000;

/** Longer than any question is held: every request has a shorter limit of its own. */
export const ATTEMPT_TIMEOUT_MS = 35_000;

export interface Accepted {
  readonly generation: number;
  readonly policy: Policy;
}

/** The policy is invalid, and the gateway knows why; a repaired one is waited for. */
class PolicyRejectedError extends Error {
  override readonly name = "PolicyRejectedError";
  readonly code = "POLICY_REJECTED";
  readonly wasHeld: boolean;

  constructor(message: string, wasHeld: boolean) {
    super(message);
    this.wasHeld = wasHeld;
  }
}

/**
 * What the failures of this supervisor mean, before the default rules are asked. An invalid policy is reported as
 * rejected the moment it is found; waiting for its repair is bounded by the gateway's deadline, and the next question
 * is asked at once, because the gateway holds it.
 */
export const bootstrapRules: Classifier = (error) => {
  if (error instanceof PolicyRejectedError) {
    const explanation =
      "The policy in force is invalid; the gateway was told why, and a repaired one is waited for";
    const base = { verdict: "transient", code: error.code, kind: "configuration", explanation } as const;
    return error.wasHeld ? { ...base, pushbackMs: 0 } : base;
  }
  if (error instanceof DismissedError) {
    const explanation = "The gateway wants nothing more from this supervisor";
    return { verdict: "permanent", code: error.code, kind: "authorization", explanation };
  }
  return undefined;
};

/**
 * Once the main process runs, the supervisor only follows: no answer but a dismissal ends it, because another program
 * may be on the gateway's port while that is away.
 */
export const steadyRules: Classifier = (error, context) => {
  if (error instanceof AnswerError || error instanceof SyntaxError) return { verdict: "transient" };
  const own = bootstrapRules(error, context);
  return own ?? { verdict: "transient" };
};

/** A policy that can be put into force, or why not. */
export function judge(policy: unknown): Policy | InvalidInputError {
  try {
    return parsePolicy(policy);
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
}

/** The steps of a bootstrap. Each is tried again as a whole, so each goes on from what it already knows. */
export class Bootstrap {
  readonly #link: GatewayLink;
  readonly #enforcement: Enforcement;
  /** The generation that was dealt with: only a newer one is news. */
  #after = 0;
  #accepted: Accepted | null = null;
  #rejection = "";

  constructor(link: GatewayLink, enforcement: Enforcement) {
    this.#link = link;
    this.#enforcement = enforcement;
  }

  /** The configuration to start with. Call it after the steps. */
  get accepted(): Accepted {
    if (this.#accepted === null) throw new Error("the policy was not fetched");
    return this.#accepted;
  }

  /** Fetched with the attempt's secret, and judged. */
  async fetchPolicy({ signal }: AttemptContext): Promise<Accepted> {
    const waitMs = this.#after === 0 ? 0 : WAIT_MS;
    const received = await this.#link.configurationAfter(this.#after, waitMs, signal);
    // An answer without news should have been held; where none was asked to be, the next try waits its turn.
    if (received === null) throw new PolicyRejectedError(this.#rejection, waitMs > 0);
    const { generation } = received;
    const policy = judge(received.policy);
    if (policy instanceof InvalidInputError) {
      this.#rejection = policy.message;
      const report = {
        kind: "rejected",
        generation,
        reason: "ConfigurationInvalid",
        message: this.#rejection,
      } as const;
      const reply = await this.#link.report(report, signal);
      // Only now: a rejection that nobody heard is said again.
      this.#after = reply === "not-current" ? 0 : generation;
      throw new PolicyRejectedError(this.#rejection, true);
    }
    this.#after = generation;
    this.#accepted = { generation, policy };
    return this.#accepted;
  }

  async enforce({ signal }: AttemptContext): Promise<void> {
    await this.#enforcement.apply(this.accepted.policy.network?.allow ?? null, signal);
  }

  /** The gateway takes note of what is about to be started. A newer configuration goes through all steps first. */
  async admit(context: AttemptContext): Promise<void> {
    for (;;) {
      const { generation } = this.accepted;
      const reply = await this.#link.report({ kind: "accepted", generation }, context.signal);
      if (reply === "not-current") await this.fetchPolicy(context);
      else if (reply.activate) return;
      else throw new Error("the gateway does not let the main process start yet");
      await this.enforce(context);
    }
  }
}
