import type { Observation } from "../observation.js";
import { containerFacts, inspectedState, type ContainerState } from "./container.js";
import { at, member, textOf, wordOf, type JsonObject } from "./json.js";
import { isNotFound } from "./lookup-error.js";
import { notTheObject, oneObject, type WantedObject } from "./one-object.js";
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

/** What an engine's inspect answers: a list of it is what the command line prints. */
export const INSPECT: WantedObject = {
  said: "inspect must be one object with State",
  isOne: hasState,
};

/** An entry of an engine's list. */
export const SUMMARY: WantedObject = {
  said: "summary must be one object with State",
  isOne: hasState,
};

/** An image, a network or an engine's error has none. */
function hasState(object: JsonObject): boolean {
  const state = member(object, "State");
  return state !== undefined && state !== null;
}

/**
 * The facts in what the Docker Engine shows of a container. Total: any JSON gives an observation, nothing throws, and
 * no message is parsed. `docker inspect` prints a list: one of one container is that container; anything that is no
 * container is no observation, with what was expected in `message`.
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
  const given = member(input, "inspect");
  const inspect = oneObject(given, INSPECT);
  return typeof inspect === "string"
    ? notTheObject(given, inspect, member(input, "error"), options)
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
  const inspect = oneObject(member(input, "inspect"), INSPECT);
  if (typeof inspect !== "string") return observeDockerInspect({ inspect }, options);
  const error = member(input, "error");
  const given = member(input, "summary");
  const summary = oneObject(given, SUMMARY);
  if (typeof summary === "string") return notTheObject(given, summary, error, options);
  if (isNotFound(error)) return withoutObject(error, options);
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
