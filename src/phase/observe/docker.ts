import type { Observation } from "../observation.js";
import { containerFacts, inspectedState, type ContainerState } from "./container.js";
import { at, member, objectOf, textOf, wordOf, type JsonObject } from "./json.js";
import { isNotFound } from "./lookup-error.js";
import { instanceKeyOf, withoutObject, type ObserveOptions } from "./options.js";

/**
 * An answer of `GET /containers/{id}/json`, or what the request failed with.
 *
 * @public
 */
export interface InspectInput {
  /** The answer as parsed JSON; `null` or absent with an `error`. */
  readonly inspect: unknown;
  /** What the request failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/**
 * An entry of `GET /containers/json`, with the inspect answer where there is one: it is newer and richer.
 *
 * @public
 */
export interface ListEntryInput {
  /** The entry of the list, as parsed JSON. */
  readonly summary: unknown;
  /** The inspect answer of the same container. Absent: not asked. */
  readonly inspect?: unknown;
  /** What the request failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/**
 * The facts in what the Docker Engine shows of a container. Total: any JSON gives an observation, nothing throws, and
 * no message is parsed.
 *
 * @example
 * ```ts
 * import { observeDockerInspect } from "slipway/phase";
 *
 * observeDockerInspect({ inspect: { State: { Status: "running", Running: true } } }).running; // => true
 * observeDockerInspect({ inspect: null, error: { statusCode: 404 } }).exists; // => false
 * observeDockerInspect({ inspect: null, error: { transport: "connection refused" } }).exists; // => null
 * ```
 *
 * @public
 */
export function observeDockerInspect(input: InspectInput, options: ObserveOptions = {}): Observation {
  const inspect = objectOf(member(input, "inspect"));
  return inspect === null
    ? withoutObject(member(input, "error"), options)
    : containerFacts(inspectedState(inspect, options), options);
}

/**
 * The facts in an entry of Docker's container list.
 *
 * The exit code of an entry is only in its status text, which is not parsed: it is unknown. Where an engine's list does
 * not show health, an entry that runs is as one without a health check: give `inspect` as well for containers that have
 * one.
 *
 * @example
 * ```ts
 * import { observeDockerListEntry } from "slipway/phase";
 *
 * observeDockerListEntry({ summary: { State: "exited", Status: "Exited (0) 2 hours ago" } }).exitCode; // => null
 * ```
 *
 * @public
 */
export function observeDockerListEntry(input: ListEntryInput, options: ObserveOptions = {}): Observation {
  const inspect = objectOf(member(input, "inspect"));
  if (inspect !== null) return observeDockerInspect({ inspect }, options);
  const error = member(input, "error");
  const summary = objectOf(member(input, "summary"));
  if (summary === null || isNotFound(error)) return withoutObject(error, options);
  return containerFacts(listedState(summary, options), options);
}

/** Reads an entry of a container list in Docker's dialect. */
export function listedState(summary: JsonObject, options: ObserveOptions): ContainerState {
  const health = at(summary, "Health", "Status");
  return {
    status: textOf(summary["State"]),
    running: null,
    paused: null,
    restarting: null,
    oomKilled: null,
    exitCode: null,
    error: null,
    neverStarted: false,
    finishedAt: null,
    health: wordOf(health),
    healthWord: textOf(health),
    instanceId: textOf(at(summary, "Labels", instanceKeyOf(options))),
  };
}
