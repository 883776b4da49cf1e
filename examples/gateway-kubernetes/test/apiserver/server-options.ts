import type { Clock } from "slipway";
import type { Converter } from "./custom-resources.js";

export interface ApiServerOptions {
  /** Time of delays, watch ends, bookmarks and of the cluster. */
  readonly clock: Clock;
  /** From 0 to below 1: generated names, uids, faults by chance. */
  readonly random: () => number;
  /** Objects that are there from the start; custom resource definitions before their objects. */
  readonly objects?: readonly object[];
  readonly converters?: Readonly<Record<string, Converter>>;
  /** Namespaces that are there from the start, beside `default`. */
  readonly namespaces?: readonly string[];
  /** The resource version of before the first write. Default beyond 32 bits, as clusters come to have. */
  readonly initialRevision?: number;
  /** Writes that stay readable as history; older ones are compacted. Default 20 000. */
  readonly historyLimit?: number;
  /** How often watches that want bookmarks get one. Default 60 s. */
  readonly bookmarkMs?: number;
  /** How long after a write the garbage collector and the namespace controller take it up. Default 0. */
  readonly controllerDelayMs?: number;
}
