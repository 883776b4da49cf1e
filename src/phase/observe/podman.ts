import type { Observation } from "../observation.js";
import { containerFacts } from "./container.js";
import {
  INSPECT,
  listedState,
  observeDockerInspect,
  SUMMARY,
  type InspectInput,
  type ListEntryInput,
} from "./docker.js";
import { instantOf, instantOfSeconds } from "./instant.js";
import { flagOf, integerOf, member } from "./json.js";
import { isNotFound } from "./lookup-error.js";
import { notTheObject, oneObject } from "./one-object.js";
import { withoutObject, type ObserveOptions } from "./options.js";

/**
 * The facts in a Podman inspect answer, of the libpod endpoint or of the Docker-compatible one.
 *
 * Both have Docker's shape. The words that only Podman has (`initialized`, `stopping`, `stopped`) are known, an empty
 * `Health` object means that no check is configured, and paused is paused whatever `Running` says.
 *
 * @example
 * ```ts
 * import { observePodmanInspect } from "slipway/phase";
 *
 * observePodmanInspect({ inspect: { State: { Status: "stopping" } } }).terminating; // => true
 * ```
 *
 * @public
 */
export function observePodmanInspect(input: InspectInput, options: ObserveOptions = {}): Observation {
  return observeDockerInspect(input, options);
}

/**
 * The facts in an entry of a Podman container list, of the libpod endpoint or of the Docker-compatible one. The libpod
 * list carries the exit code and the end of the run as numbers, so they count.
 *
 * @example
 * ```ts
 * import { observePodmanListEntry } from "slipway/phase";
 *
 * observePodmanListEntry({ summary: { State: "exited", Exited: true, ExitCode: 3 } }).exitCode; // => 3
 * ```
 *
 * @public
 */
export function observePodmanListEntry(input: ListEntryInput, options: ObserveOptions = {}): Observation {
  const inspect = oneObject(member(input, "inspect"), INSPECT);
  if (typeof inspect !== "string") return observePodmanInspect({ inspect }, options);
  const error = member(input, "error");
  const given = member(input, "summary");
  const summary = oneObject(given, SUMMARY);
  if (typeof summary === "string") return notTheObject(given, summary, error, options);
  if (isNotFound(error)) return withoutObject(error, options);
  const ended = flagOf(summary["Exited"]) === true;
  const at = summary["ExitedAt"];
  return containerFacts(
    {
      ...listedState(summary, options),
      exitCode: ended ? integerOf(summary["ExitCode"]) : null,
      finishedAt: typeof at === "number" ? instantOfSeconds(at) : instantOf(at),
    },
    options,
  );
}
