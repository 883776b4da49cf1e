import { describeReason, type ReasonDescription, type ReasonEntry } from "../../conditions/index.js";
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from "../command.js";
import { loadCatalog } from "./load-catalog.js";
import { expectOneOf, type ReasonsOptions } from "./options.js";

/** `slipway reasons describe`: what words mean. Fails when the catalog knows one of them not at all. */
export async function describeReasons(options: ReasonsOptions, io: CommandIo): Promise<number> {
  if (options.words.length === 0)
    throw new UsageError("expected one or more reasons after describe, found nothing");
  const catalog = await loadCatalog(options.catalog, io);
  const sources = Object.values<ReasonEntry>(catalog.reasons).flatMap((entry) => entry.sources ?? []);
  expectOneOf("--backend", options.backend, [...new Set(sources.map(({ backend }) => backend))].sort());
  const descriptions = options.words.map((word) =>
    describeReason(word, { catalog, backend: options.backend }),
  );
  io.print(options.json ? JSON.stringify(descriptions, null, 2) : descriptions.map(render).join("\n\n"));
  return descriptions.some(({ found }) => found === "unknown") ? EXIT_FAILED : EXIT_OK;
}

function render(description: ReasonDescription): string {
  const { reason, found, name, summary, entry } = description;
  const title = name === undefined || name === reason ? reason : `${reason} (${found}: ${name})`;
  if (found === "retired") {
    const instead = entry === undefined ? [] : [`  instead: ${name}: ${entry.summary}`];
    return [
      title,
      `  ${summary}`,
      `  class:   ${description.class}, for readers that still know it`,
      ...instead,
    ].join("\n");
  }
  if (entry === undefined) return `${title}\n  ${summary}`;
  const since = `since contract ${entry.since ?? 1}`;
  const deprecated =
    entry.deprecatedIn === undefined
      ? ""
      : `, deprecated in ${entry.deprecatedIn} for ${entry.replacedBy ?? "nothing"}`;
  const lines = [
    title,
    `  ${summary}`,
    `  class:   ${entry.class}`,
    `  on:      ${entry.types.join(", ")}`,
    `  phases:  ${entry.phases?.join(", ") ?? "any"}`,
    `  known:   ${since}${deprecated}`,
    ...(entry.refines ? [`  refines: ${entry.refines.join(", ")}`] : []),
    ...(entry.sources ?? []).map(({ backend, raw, versions }) => {
      return `  from:    ${backend}${versions === undefined ? "" : ` ${versions}`}: ${raw.join(", ")}`;
    }),
    ...(entry.action === undefined ? [] : [`  do:      ${entry.action}`]),
  ];
  return lines.join("\n");
}
