import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ReconcileOutcome } from "slipway";
import type { FailureCounts, GatewayObserver } from "../gateway/observer.js";
import type { SandboxRecord } from "../record/record.js";
import { gatewayReasons } from "../record/reasons.js";
import { PhaseCounts } from "./phase-counts.js";
import { processMetrics } from "./process-metrics.js";

/** Seconds. A sweep looks every two seconds at the latest, so what takes longer is late by somebody's fault. */
const LATENESS_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300];
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60];

export interface AnsweredRequest {
  readonly method: string;
  /** The pattern that matched, and not the path: there are as many paths as sandboxes. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/**
 * What a gateway counts, in Prometheus' format. Every label has a fixed, small set of values; no sandbox, no address
 * and no text that came from outside is among them.
 */
export class GatewayMetrics implements GatewayObserver {
  readonly #registry = new Registry();
  readonly #ofProcess: Registry | null;
  readonly #phases: PhaseCounts;
  readonly #writes = this.#counter("slipway_record_writes_total", "Records this gateway wrote.", []);
  readonly #expiries = this.#counter("slipway_expiries_total", "Deadlines this gateway saw expire.", [
    "phase",
    "reason",
  ]);
  readonly #lateness = this.#histogram(
    "slipway_expiry_lateness_seconds",
    "Time from a deadline to the moment its expiry was decided.",
    LATENESS_BUCKETS,
    ["phase"],
  );
  readonly #cleanups = this.#counter("slipway_cleanups_total", "Cleanups that ended, or are tried again.", [
    "result",
  ]);
  readonly #launchFailures = this.#counter(
    "slipway_launch_failures_total",
    "Starts of a driver's work that failed and are tried again.",
    [],
  );
  readonly #restarts = this.#counter("slipway_restarts_total", "Automatic restarts.", []);
  readonly #bootstrapFailures = this.#counter(
    "slipway_bootstrap_failures_total",
    "Bootstrap attempts that failed, as their supervisors classified and reported them.",
    ["class"],
  );
  readonly #reconciled = this.#counter(
    "slipway_reconciled_total",
    "Sandboxes that a reconciler did not leave as they were.",
    ["outcome"],
  );
  readonly #requests = this.#counter("slipway_http_requests_total", "HTTP requests that were answered.", [
    "method",
    "route",
    "status",
  ]);
  readonly #requestSeconds = this.#histogram(
    "slipway_http_request_seconds",
    "Time to the answer's header; a question that is held is among them.",
    REQUEST_BUCKETS,
    ["route"],
  );

  readonly #streamsRefused = this.#counter(
    "slipway_streams_refused_total",
    "Streams of events that were refused, by the limit that was reached.",
    ["limit"],
  );
  readonly #connectionsRefused = this.#counter(
    "slipway_connections_refused_total",
    "Connections beyond a limit, which were closed or got one answer.",
    ["limit"],
  );
  #openStreams: () => number = () => 0;
  #openConnections: () => number = () => 0;

  /** @param options - `process`: also what Node tells of itself, from the first of these in a process on. */
  constructor(options: { readonly process?: boolean } = {}) {
    const phases = new PhaseCounts();
    this.#phases = phases;
    new Gauge({
      name: "slipway_sandboxes",
      help: "Sandboxes by phase, of all gateways of the store: take the maximum over them, and not the sum.",
      labelNames: ["phase"],
      registers: [this.#registry],
      collect() {
        for (const [phase, count] of phases.counts()) this.set({ phase }, count);
      },
    });
    const openStreams = (): number => this.#openStreams();
    new Gauge({
      name: "slipway_streams_open",
      help: "Streams of events that are open.",
      registers: [this.#registry],
      collect() {
        this.set(openStreams());
      },
    });
    const openConnections = (): number => this.#openConnections();
    new Gauge({
      name: "slipway_connections_open",
      help: "Connections that are open.",
      registers: [this.#registry],
      collect() {
        this.set(openConnections());
      },
    });
    for (const limit of ["client", "all"]) this.#streamsRefused.inc({ limit }, 0);
    for (const limit of ["address", "all"]) this.#connectionsRefused.inc({ limit }, 0);
    this.#ofProcess = options.process === true ? processMetrics() : null;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async render(): Promise<string> {
    const own = await this.#registry.metrics();
    return this.#ofProcess === null ? own : own + (await this.#ofProcess.metrics());
  }

  /** Tells how many streams are open, when somebody asks. */
  countStreams(count: () => number): void {
    this.#openStreams = count;
  }

  streamRefused(limit: "client" | "all"): void {
    this.#streamsRefused.inc({ limit });
  }

  /** Tells how many connections are open, when somebody asks. */
  countConnections(count: () => number): void {
    this.#openConnections = count;
  }

  connectionRefused(limit: "perAddress" | "all"): void {
    this.#connectionsRefused.inc({ limit: limit === "all" ? "all" : "address" });
  }

  heard(id: string, record: SandboxRecord | null): void {
    this.#phases.heard(id, record?.phase ?? null);
  }

  written(before: SandboxRecord | null, after: SandboxRecord): void {
    this.#writes.inc();
    this.#countExpiry(before, after);
    if (before === null) return;
    if (after.launchFailures > before.launchFailures) this.#launchFailures.inc();
    if (after.restarts > before.restarts) this.#restarts.inc();
    const isSameAttempt = before.attemptNumber === after.attemptNumber;
    if (!isSameAttempt || before.deadline?.cleanup.status !== "pending") return;
    if (after.deadline?.cleanup.status === "done") this.#cleanups.inc({ result: "done" });
    else if (after.cleanupFailures > before.cleanupFailures) this.#cleanups.inc({ result: "failed" });
  }

  reconciled(outcome: ReconcileOutcome["outcome"]): void {
    this.#reconciled.inc({ outcome });
  }

  bootstrapFailed(counts: FailureCounts): void {
    for (const [name, count] of Object.entries(counts)) this.#bootstrapFailures.inc({ class: name }, count);
  }

  answered({ method, route, status, seconds }: AnsweredRequest): void {
    this.#requests.inc({ method, route, status: String(status) });
    this.#requestSeconds.observe({ route }, seconds);
  }

  #countExpiry(before: SandboxRecord | null, after: SandboxRecord): void {
    const { deadline } = after;
    if (deadline?.status !== "expired" || deadline.expiry === null) return;
    if (before?.deadline?.attempt === deadline.attempt && before.deadline.status === "expired") return;
    const { phase, reason, at, observedAt } = deadline.expiry;
    this.#expiries.inc({ phase, reason: Object.hasOwn(gatewayReasons.reasons, reason) ? reason : "other" });
    this.#lateness.observe({ phase }, Math.max(observedAt - at, 0) / 1000);
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[]): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }
}
