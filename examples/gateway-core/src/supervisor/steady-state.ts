import { systemClock } from "slipway";
import { retryBootstrap, type AttemptContext, type BootstrapRetrierOptions } from "slipway/retry";
import type { SupervisorReport } from "../decide/supervisor-report.js";
import { InvalidInputError } from "../input-error.js";
import type { Policy } from "../policy/policy.js";
import { judge, WAIT_MS } from "./bootstrap.js";
import type { Enforcement } from "./enforcement/enforcement.js";
import type { GatewayLink, ReceivedConfiguration } from "./gateway-link.js";
import { within } from "./limit.js";
import { exitCodeOf, TERMINATED, type MainProcess } from "./main-process.js";

/**
 * The time in which the main process runs: says that it does, follows the configuration, and reports the end. A gateway
 * that is away is waited for, without an end: there is nothing left that a deadline would protect.
 */
export class SteadyState {
  readonly #link: GatewayLink;
  readonly #enforcement: Enforcement;
  readonly #limits: BootstrapRetrierOptions;
  #leaves = false;

  constructor(link: GatewayLink, enforcement: Enforcement, limits: BootstrapRetrierOptions) {
    this.#link = link;
    this.#enforcement = enforcement;
    this.#limits = limits;
  }

  /** @returns The exit code of the main process, once its end was reported. */
  run(main: MainProcess, generation: number): Promise<number> {
    const ended = this.#ended(main);
    // Told to end before it was said to be ready.
    if (this.#leaves) return ended;
    return Promise.race([ended, this.#follow(main, generation, ended)]);
  }

  /** The end of the main process is somebody else's doing from now on: it is not reported as its own. */
  leave(): void {
    this.#leaves = true;
    this.#enforcement.letGo();
  }

  /** What enforces the policy is gone. Nothing gets through it, so the workload is cut off and not set free. */
  enforcementLost(message: string): void {
    this.#report({ kind: "enforcement-lost", message }).catch(() => undefined);
  }

  async #ended(main: MainProcess): Promise<number> {
    const exit = await main.exit;
    this.#enforcement.letGo();
    if (this.#leaves) return TERMINATED;
    await this.#report({ kind: "exited", ...exit });
    return exitCodeOf(exit);
  }

  async #follow(main: MainProcess, generation: number, ended: Promise<number>): Promise<number> {
    let after = generation;
    let applied = generation;
    // Another configuration may have come in between: then the gateway hears it again once that one is accepted.
    let isReady = (await main.started()) && (await this.#isReady(applied));
    for (;;) {
      const received = await Promise.race([this.#configurationAfter(after), ended]);
      if (typeof received === "number") return received;
      after = received.generation;
      const policy = await this.#apply(received);
      if (policy instanceof InvalidInputError) {
        const { message } = policy;
        const fields = { generation: after, reason: "ConfigurationInvalid", message } as const;
        if ((await this.#report({ kind: "rejected", ...fields })) === "not-current") after = 0;
        continue;
      }
      if ((await this.#report({ kind: "accepted", generation: after })) === "not-current") {
        after = 0;
        continue;
      }
      applied = after;
      if (!isReady && (await main.started())) isReady = await this.#isReady(applied);
    }
  }

  async #isReady(generation: number): Promise<boolean> {
    return (await this.#report({ kind: "ready", generation })) !== "not-current";
  }

  /** The new configuration in force as far as it can be while the main process runs, or why it cannot. */
  async #apply({ policy: received }: ReceivedConfiguration): Promise<Policy | InvalidInputError> {
    const policy = judge(received);
    if (policy instanceof InvalidInputError) return policy;
    const allow = policy.network?.allow ?? null;
    if (this.#enforcement.isOn) {
      const { clock = systemClock } = this.#limits;
      const apply = (signal: AbortSignal): Promise<void> => this.#enforcement.apply(allow, signal);
      const isApplied = await within(clock, APPLY_LIMIT_MS, apply).then(
        () => true,
        () => false,
      );
      if (isApplied) return policy;
    }
    if (allow === null) return policy;
    // The main process was started without the proxy, or its proxy is gone: saying yes would be a lie.
    return new InvalidInputError(
      "policy.network",
      "absent until the next start, which enforces it",
      policy.network,
    );
  }

  async #configurationAfter(after: number): Promise<ReceivedConfiguration> {
    for (;;) {
      const waitMs = after === 0 ? 0 : WAIT_MS;
      const received = await this.#patiently(({ signal }) =>
        this.#link.configurationAfter(after, waitMs, signal),
      );
      if (received !== null) return received;
    }
  }

  #report(report: SupervisorReport): ReturnType<GatewayLink["report"]> {
    return this.#patiently(({ signal }) => this.#link.report(report, signal));
  }

  /** @throws what the gateway dismisses this supervisor with */
  async #patiently<T>(work: (context: AttemptContext) => Promise<T>): Promise<T> {
    try {
      return await retryBootstrap(work, this.#limits);
    } catch (error) {
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  }
}

const APPLY_LIMIT_MS = 5000;
