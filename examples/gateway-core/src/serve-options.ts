import type { Clock } from "slipway";
import type { DriverContext, Drivers } from "./driver/made-drivers.js";
import type { Budgets } from "./gateway/budgets.js";
import type { Log } from "./gateway/log.js";
import type { ConnectionLimits } from "./http/connections.js";
import type { TlsFiles } from "./http/listen.js";
import type { OpenLimits } from "./http/open-answers.js";
import type { RateLimits } from "./http/rate-limits.js";
import type { Storage } from "./store/open-store.js";

export interface ServeOptions {
  readonly drivers: Drivers;
  /** Where records and activations are kept. Default: a database in `dataDir`. */
  readonly storage?: ((context: DriverContext) => Storage | Promise<Storage>) | undefined;
  /**
   * Whether `storage` that failed so, as it was made, opened or first read, may come by itself: the start then fails
   * with a {@link StoreAwayError}. Default: what the library's own rules call transient.
   */
  readonly isStorageAway?: ((error: unknown) => boolean) | undefined;
  /** Called when the store answers, perhaps twice. What it throws ends the start, before anything is begun. */
  readonly onAnswer?: (() => void) | undefined;
  /** Serve HTTPS with these. Default: HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly dataDir: string;
  /** `postgres://...`: records are in a database that other gateways may share. Default: a file below `dataDir`. */
  readonly databaseUrl?: string | undefined;
  /** Where to listen. Default: this machine only. */
  readonly host?: string | undefined;
  /** Absent: the port of the last time, so that supervisors find the gateway again, or any free one. */
  readonly port?: number | undefined;
  /**
   * What supervisors are told to call, where that is not the address on this machine; `{port}` stands for the port.
   * Default: the gateway's own URL.
   */
  readonly supervisorUrl?: string | undefined;
  readonly budgets: Budgets;
  /** What users must present. Absent: whoever is on this machine may use the API, and nobody else. */
  readonly ownerToken?: string | undefined;
  /** Opens `/metrics` and nothing else. The owner's token opens it as well. */
  readonly metricsToken?: string | undefined;
  /** How often clients may ask. Default: {@link DEFAULT_RATES}. */
  readonly rates?: RateLimits | undefined;
  /** How many streams of events may be open. Default: {@link DEFAULT_STREAMS}. */
  readonly streams?: OpenLimits | undefined;
  /** How many connections may be open. Default: {@link DEFAULT_CONNECTIONS}. */
  readonly connections?: ConnectionLimits | undefined;
  /** What Node tells of this process is among the metrics. Default: it is not; for one gateway in a process. */
  readonly processMetrics?: boolean | undefined;
  /** How long requests that are under way are waited for when the gateway ends. Default 10 000. */
  readonly drainMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** The isolation backend that new sandboxes are pinned to, and that pinned ones need. Absent: none. */
  readonly isolationBackend?: string | undefined;
  /** Reasons of an error after which a sandbox is started again by itself, ever more rarely. Default: the drivers' own. */
  readonly restartOn?: readonly string[] | undefined;
  /** Stop what runs when the gateway ends and start it when it is back. Absent: as each driver says. */
  readonly managesLifecycle?: boolean | undefined;
  /** Time between two sweeps over a backend. */
  readonly sweepEveryMs?: number | undefined;
  readonly log: Log;
  readonly clock?: Clock | undefined;
}
