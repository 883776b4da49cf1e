import type { Clock } from "slipway";
import type { Driver } from "../driver/driver.js";
import type { RecordStore } from "../store/record-store.js";
import type { SessionStore } from "../store/session-store.js";
import type { GatewayLedger } from "./activations.js";
import type { Budgets } from "./budgets.js";
import type { Log } from "./log.js";
import type { GatewayObserver } from "./observer.js";
import type { PolicyOptions } from "./policy.js";

export interface GatewayOptions {
  readonly store: RecordStore;
  /** Where the sessions of all gateways of this store are kept. Absent: this gateway is the only one. */
  readonly sessionStore?: SessionStore | undefined;
  /** Whether the store tells of every write of other gateways, through `noticeChange`. Default: it tells of none. */
  readonly tellsOfWrites?: boolean | undefined;
  readonly ledger: GatewayLedger;
  readonly clock: Clock;
  readonly drivers: readonly Driver[];
  readonly budgets: Budgets;
  /** Names this gateway among those that share the store, the same after a restart. */
  readonly owner: string;
  readonly log: Log;
  /** Where supervisors reach this gateway; asked when one is started. */
  readonly gatewayUrl: () => string;
  /** Fresh, unguessable text. */
  readonly newId: () => string;
  /** How long the driver's work of a gateway that died stays its own. */
  readonly leaseMs?: number | undefined;
  /** The isolation backend that new sandboxes are pinned to. Absent: none. */
  readonly isolationBackend?: string | null | undefined;
  /** What is started again by itself, and whether sandboxes end with the gateway. Default: nothing, and as each driver says. */
  readonly policy?: Partial<PolicyOptions> | undefined;
  /** Told of what this gateway does, for counting. */
  readonly observer?: GatewayObserver | undefined;
  /** Time between two sweeps over a backend. */
  readonly sweepEveryMs?: number | undefined;
}
