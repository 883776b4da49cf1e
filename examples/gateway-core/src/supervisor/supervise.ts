import { systemClock, type Clock } from "slipway";
import {
  BootstrapDeadlineError,
  BootstrapPermanentError,
  BootstrapRetrier,
  bootstrapSequence,
  exponentialBackoff,
  retryBootstrap,
  type BootstrapRetrierOptions,
  type BootstrapSequenceResult,
} from "slipway/retry";
import { ATTEMPT_TIMEOUT_MS, Bootstrap, bootstrapRules, steadyRules } from "./bootstrap.js";
import { UNTOLD_FAILURE } from "../record/exit-codes.js";
import { NOT_REPLAYED } from "../record/not-replayed.js";
import { sleep } from "../sleep.js";
import { Enforcement } from "./enforcement/enforcement.js";
import { FailureTally } from "./failure-tally.js";
import { DismissedError, GatewayLink } from "./gateway-link.js";
import { HttpActivationLedger } from "./http-activation-ledger.js";
import { within } from "./limit.js";
import { exitCodeOf, MainProcess, TERMINATED } from "./main-process.js";
import { RemoteDeadline } from "./remote-deadline.js";
import type { SupervisorSettings } from "./settings.js";
import { StateReporter } from "./state-reporter.js";
import { SteadyState } from "./steady-state.js";

const LAST_WORD_LIMIT_MS = 3000;
/**
 * How soon a driver comes to end what its gateway is done with, on a busy machine; and longer than one grants that has
 * asked everybody in a group.
 */
const COMING_LIMIT_MS = 5000;
/** How long what was asked for lack of anybody else may take before it is on its own. */
const ASKED_LIMIT_MS = 2000;
/** Tries to get the enforcement back that ended between its readiness and the start. */
const START_ATTEMPTS = 5;

export interface SuperviseOptions {
  readonly settings: SupervisorSettings;
  /** The supervisor's own program file, which is also the sidecar's. */
  readonly program: string;
  /** Cancels the bootstrap. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly clock?: Clock;
}

/** Full jitter up to 2 s: a gateway that restarts finds its supervisors back soon, and not all at once. */
const backoff = exponentialBackoff({ initialMs: 200, factor: 2, capMs: 2000, jitter: "full" });

/**
 * The life of a supervisor: the whole bootstrap as one sequence under one deadline, then the main process, its
 * configuration and its end. Resolves with the exit code to end with.
 */
export class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #link: GatewayLink;
  readonly #deadline: RemoteDeadline;
  readonly #retrier: BootstrapRetrier;
  readonly #reporter: StateReporter;
  readonly #enforcement: Enforcement;
  readonly #steady: SteadyState;
  readonly #bootstrap: Bootstrap;
  readonly #startLimits: BootstrapRetrierOptions;
  readonly #told = new AbortController();
  #isClaimed = false;
  #main: MainProcess | null = null;

  constructor(options: SuperviseOptions) {
    const { settings, program, signal, log, clock = systemClock } = options;
    this.#options = options;
    this.#deadline = new RemoteDeadline(clock, settings.budgetMs);
    const failures = new FailureTally();
    this.#link = new GatewayLink({
      ...settings,
      clock,
      failures,
      onAnswer: (...told) => {
        this.#deadline.told(...told);
        this.#reporter.reached();
      },
    });
    const limits = { clock, backoff, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS };
    this.#startLimits = { ...limits, deadline: this.#deadline, maxAttempts: START_ATTEMPTS };
    this.#retrier = new BootstrapRetrier({
      ...limits,
      signal,
      deadline: this.#deadline,
      classify: bootstrapRules,
    });
    this.#retrier.on("failure", ({ verdict }) => failures.add(verdict));
    this.#reporter = new StateReporter(this.#link, this.#retrier, log);
    this.#enforcement = new Enforcement(program, (message) => this.#enforcementLost(message));
    this.#bootstrap = new Bootstrap(this.#link, this.#enforcement);
    this.#steady = new SteadyState(this.#link, this.#enforcement, { ...limits, classify: steadyRules });
  }

  /** Whether nothing was claimed yet: the signal ends it cleanly. */
  get isBootstrapping(): boolean {
    return !this.#isClaimed;
  }

  /**
   * Told to end while the main process runs: that one is asked, unless it was, and has the time that the teller grants.
   * Nothing is reported of an end that somebody else brought about. Resolves with the exit code to end with; with `null`
   * where the main process was still to be started: then that is done with it, and `run` has the exit code.
   */
  async leave(): Promise<number | null> {
    const main = this.#main;
    this.#told.abort();
    if (main === null) return null;
    const hadEnded = main.isOver;
    if (!hadEnded) this.#steady.leave();
    const { askedAlone } = this.#options.settings;
    await main.leave(!askedAlone);
    // Who had asked everybody would have killed by then what is left: this process alone was told, by somebody else.
    if (!askedAlone && !hadEnded && (await this.#isStillThere(main))) await main.askAnew();
    const exit = await main.exit;
    return hadEnded ? exitCodeOf(exit) : TERMINATED;
  }

  /** What asks the whole sandbox to end asked the main process, too, and what enforces its policy. */
  async workloadWasAsked(): Promise<void> {
    this.#told.abort();
    this.#enforcement.letGo();
    await this.#main?.leave(true);
  }

  /**
   * Dismissed while the main process runs: whoever ends the sandbox is about to ask it, and grants it its time. Where
   * nobody comes it is asked here, for a workload is not left behind by a supervisor that has nobody to report to.
   */
  async seeToWorkload(): Promise<void> {
    const main = this.#main;
    if (main === null) return;
    if (await this.#isUpToUs(main)) {
      await main.ask();
      await Promise.race([main.exit, sleep(this.#clock, ASKED_LIMIT_MS)]);
    } else await main.exit;
  }

  /** Whether nobody comes to ask a main process to end that the gateway is done with. */
  async #isUpToUs(main: MainProcess): Promise<boolean> {
    return this.#isStillThere(main, this.#told.signal);
  }

  /** Whether it is there after a while that the signal has not cut short. */
  async #isStillThere(main: MainProcess, signal?: AbortSignal): Promise<boolean> {
    const later = sleep(this.#clock, COMING_LIMIT_MS, signal).then(
      () => true,
      () => false,
    );
    return Promise.race([later, main.exit.then(() => false)]);
  }

  get #clock(): Clock {
    return this.#options.clock ?? systemClock;
  }

  /** @throws DismissedError once the gateway is done with this supervisor */
  async run(): Promise<number> {
    try {
      return await this.#activated(await this.#start());
    } catch (error) {
      return await this.#failed(error);
    } finally {
      this.#reporter.close();
      this.#deadline[Symbol.dispose]();
    }
  }

  /** Ends what enforces the policy, once nobody is left who goes by it. */
  async close(): Promise<void> {
    await this.#enforcement.end();
  }

  async #start(): Promise<BootstrapSequenceResult> {
    const { settings, log } = this.#options;
    const bootstrap = this.#bootstrap;
    const step = (name: string, run: (context: Parameters<Bootstrap["admit"]>[0]) => Promise<unknown>) => ({
      name,
      run: (context: Parameters<Bootstrap["admit"]>[0]) => {
        this.#reporter.begin(name);
        return run(context);
      },
    });
    this.#reporter.begin("gateway");
    return bootstrapSequence({
      instanceId: `${settings.sandbox} run ${settings.run}`,
      ledger: new HttpActivationLedger(this.#link, new AbortController().signal),
      retrier: this.#retrier,
      steps: [
        step("policy", (context) => bootstrap.fetchPolicy(context)),
        step("enforcement", (context) => bootstrap.enforce(context)),
        step("admission", (context) => bootstrap.admit(context)),
      ],
      activate: async () => {
        this.#isClaimed = true;
        // It may have ended since it was ready; what was claimed is not given up for that.
        if (bootstrap.accepted.policy.network !== undefined && !this.#enforcement.isOn) {
          await retryBootstrap((context) => bootstrap.enforce(context), this.#startLimits);
        }
        log("[activation] The main process is started.");
        const { policy } = bootstrap.accepted;
        this.#link.mainStarted();
        this.#main = MainProcess.start(settings.command, policy, {
          enforced: this.#enforcement.environment,
          ownsMemory: settings.ownsMemory,
          spared: () => this.#enforcement.pid,
        });
        // Told to end since it was claimed. Who told that has asked nobody who was not there.
        if (this.#options.signal.aborted || this.#told.signal.aborted) await this.#takeBack(this.#main);
      },
    });
  }

  async #activated(result: BootstrapSequenceResult): Promise<number> {
    const { outcome, started, error } = result;
    const main = this.#main;
    if (outcome === "activated" && main !== null) {
      this.#reporter.close();
      return this.#steady.run(main, this.#bootstrap.accepted.generation);
    }
    if (outcome === "activation-uncertain") return this.#uncertain(error);
    const message = `The instance is ${outcome === "already-active" ? "active already" : outcome}; nothing is replayed.`;
    this.#options.log(`[activation] ${message}`);
    if (started && main !== null) {
      // A stop came while it was being started, and won. Whoever is behind it comes to ask, and is waited for.
      this.#reporter.close();
      if (await this.#isUpToUs(main)) await main.ask();
      await main.exit;
      return TERMINATED;
    }
    const isTold = await this.#lastWord({
      kind: "bootstrap",
      succeeded: false,
      reason: NOT_REPLAYED,
      message,
    });
    if (outcome !== "already-active") return 0;
    // What was started before this supervisor came is gone, and did not end with success because nobody saw its end.
    return isTold ? 1 : UNTOLD_FAILURE;
  }

  async #takeBack(main: MainProcess): Promise<void> {
    this.#told.abort();
    this.#steady.leave();
    await main.leave(false);
  }

  async #uncertain(error: unknown): Promise<number> {
    const why =
      error === undefined ? "" : `: ${error instanceof Error ? error.message : JSON.stringify(error)}`;
    const message = `The start of the main process began before, and nobody knows whether it took place${why}`;
    this.#options.log(`[activation] ${message}. It is not repeated.`);
    const reason = "LocalActivationUncertain";
    return (await this.#lastWord({ kind: "bootstrap-failed", reason, message })) ? 1 : UNTOLD_FAILURE;
  }

  async #failed(error: unknown): Promise<number> {
    if (this.#options.signal.aborted) return TERMINATED;
    if (error instanceof DismissedError) throw error;
    const { message, cause } = this.#retrier.toCondition();
    if (error instanceof BootstrapPermanentError) {
      if (error.cause instanceof DismissedError) throw error.cause;
      const failure = { reason: "BootstrapFailed", message, cause } as const;
      return (await this.#lastWord({ kind: "bootstrap-failed", ...failure })) ? 1 : UNTOLD_FAILURE;
    }
    // The gateway keeps the deadline, and says itself that it passed.
    if (error instanceof BootstrapDeadlineError) return 1;
    throw error;
  }

  /** Said once and soon, or not: the gateway sees that this supervisor is gone in any case. False when it was not. */
  async #lastWord(report: Parameters<GatewayLink["report"]>[0]): Promise<boolean> {
    this.#reporter.close();
    const say = (signal: AbortSignal): Promise<unknown> => this.#link.report(report, signal);
    try {
      await within(this.#clock, LAST_WORD_LIMIT_MS, say);
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#options.log(`The gateway could not be told: ${why}`);
      return false;
    }
  }

  /** Before the main process runs the sequence starts another one; after that it is said, and not mended. */
  #enforcementLost(message: string): void {
    this.#options.log(`[enforcement] ${message}`);
    if (this.#main !== null && !this.#main.hasEnded) this.#steady.enforcementLost(message);
  }
}
