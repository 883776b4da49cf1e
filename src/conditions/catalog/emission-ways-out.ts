import { isKnown, reasonClass } from "./catalog-lookup.js";
import { announced, anotherReason, type WaysOut } from "./catalog-difference.js";
import { sameValue } from "../same-value.js";
import type { ReasonCatalog, ReasonEmission } from "./reason-catalog.js";

/**
 * The two ways out of what readers see differently of a publication, by what was changed: the reason, its general
 * reasons, or what the catalog says of them.
 *
 * @param contracts - The contracts that have readers.
 *
 * @internal
 */
export function waysOutOf(
  before: ReasonCatalog,
  old: ReasonEmission | undefined,
  now: ReasonEmission | undefined,
  contracts: readonly number[],
): WaysOut {
  const next = before.contract + 1;
  if (old === undefined) {
    const another =
      "use a new reason for the new condition, without general reasons that clients know already.";
    return [another, announced(next, "find it")];
  }
  const { reason, generalReasons = [] } = old;
  if (now?.reason !== reason) return anotherReasonFor(before, reason, generalReasons, contracts);
  if (sameValue(now.generalReasons ?? [], generalReasons)) {
    const names = [reason, ...generalReasons].join(", ");
    return [
      `keep since, class and retirement of ${names}: the publication is as it was.`,
      anotherReason(next),
    ];
  }
  return otherGeneralReasons(before, reason, generalReasons);
}

function otherGeneralReasons(
  before: ReasonCatalog,
  reason: string,
  generalReasons: readonly string[],
): WaysOut {
  const next = before.contract + 1;
  const kept =
    generalReasons.length === 0
      ? `keep ${reason} without general reasons`
      : `keep generalReasons: ${JSON.stringify(generalReasons)} of ${reason}`;
  // What may still come right is no case of what is over.
  const general = isTerminal(before, reason) ? "general reason" : "non-terminal general reason";
  const list = ["the new one", ...generalReasons.map((each) => JSON.stringify(each))].join(", ");
  return [
    `${kept}, and state what else was found as its cause or on a condition of its own.`,
    `add the new ${general} with since: ${next}, raise contract to ${next}, and state generalReasons: [${list}] of ` +
      `${reason}, so that readers of older contracts keep what they see; one condition is stored for all of them, so no ` +
      "contract takes a general reason away.",
  ];
}

function anotherReasonFor(
  before: ReasonCatalog,
  reason: string,
  generalReasons: readonly string[],
  contracts: readonly number[],
): WaysOut {
  const next = before.contract + 1;
  const terminal = isTerminal(before, reason) ? "terminal " : "";
  const kept =
    generalReasons.length === 0 ? reason : `${reason} with generalReasons: ${JSON.stringify(generalReasons)}`;
  const change =
    `add the new ${terminal}reason with since: ${next}, raise contract to ${next}, and state ` +
    `generalReasons: ${JSON.stringify([reason, ...generalReasons])}, so that readers of older contracts keep what they see`;
  const blind = contracts.filter((contract) => !isKnown(before, reason, contract));
  // They see the reason as a cause, or as a word that they do not know.
  const except =
    blind.length === 0
      ? ""
      : `; for those of contract ${blind.join(", ")}, which does not know ${reason}, it stays breaking: they see the new reason in its place`;
  return [
    `keep the reason ${kept} and state the finer finding as its cause or on a condition of its own.`,
    `${change}${except}.`,
  ];
}

function isTerminal(catalog: ReasonCatalog, reason: string): boolean {
  return reasonClass(catalog, reason) === "terminal";
}
