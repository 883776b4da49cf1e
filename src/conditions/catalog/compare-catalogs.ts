import { sameValue } from "../same-value.js";
import {
  additive,
  announced,
  breaking,
  type CatalogDifference,
  safe,
  type WaysOut,
} from "./catalog-difference.js";
import { compareEmissions } from "./compare-emissions.js";
import { compareReason } from "./compare-reason.js";
import { compareSources } from "./compare-sources.js";
import type {
  ConditionTypeEntry,
  ReasonCatalog,
  ReasonClass,
  ReasonEmission,
  ReasonEntry,
  RetiredReason,
} from "./reason-catalog.js";
import { WordIndex } from "./word-index.js";

/**
 * Every difference between two versions of a catalog, and what it does to clients written against the older one; empty
 * for the same catalog.
 *
 * Emissions are compared as a reader of each contract of `before` would see them through `convertConditions`, so that
 * another reason for the same finding is breaking although every name is still there, and is not breaking when the
 * old reason is stated as a general one. Pure and total for catalogs that `defineReasonCatalog` accepts.
 *
 * @example
 * ```ts
 * import { compareCatalogs, sandboxReasons } from "slipway/conditions";
 *
 * compareCatalogs(sandboxReasons, sandboxReasons); // => []
 * ```
 *
 * @public
 */
export function compareCatalogs(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found = [
    ...compareIdentity(before, after),
    ...compareTypes(before, after),
    ...compareReasons(before, after),
    ...compareRetired(before, after),
    ...compareSources(before, after),
    ...compareEmissions(before, after),
  ];
  if (found.length > 0 || sameValue(plain(before), plain(after))) return found;
  return [
    safe("catalog-text", before.name, `The catalog ${before.name} is stated otherwise, to the same effect.`),
  ];
}

/** A catalog without the defaults that it states and without the order of its emissions, neither of which is a difference. */
function plain({ emits, retired = {}, ...rest }: ReasonCatalog): unknown {
  const stated = emits.map(({ since = 1, generalReasons = [], ...emission }) => ({
    ...emission,
    since,
    generalReasons,
  }));
  const key = (emission: ReasonEmission): string =>
    JSON.stringify([emission.operation, emission.cause, emission.type, emission.since]);
  const emissions: Record<string, ReasonEmission> = Object.fromEntries(
    stated.map((emission) => [key(emission), emission]),
  );
  const reasons = Object.entries<ReasonEntry>(rest.reasons).map(
    ([name, { since = 1, refines = [], sources = [], ...entry }]): [string, ReasonEntry] => [
      name,
      { ...entry, since, refines, sources },
    ],
  );
  return { ...rest, reasons: Object.fromEntries(reasons), emissions, retired };
}

function compareIdentity(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  if (before.name !== after.name) {
    const text = `The catalog ${before.name} is now called ${after.name}: clients that ask for it by name do not find it.`;
    found.push(
      breaking("catalog-name", before.name, text, [
        `keep the name ${before.name} and publish ${after.name} as a catalog of its own beside it.`,
        `a contract belongs to its catalog: start ${after.name} with a lock file of its own, and keep ${before.name} for its clients.`,
      ]),
    );
  }
  if (after.contract < before.contract) {
    const text = `Contract ${before.contract} is gone: clients that ask for it get contract ${after.contract}.`;
    found.push(
      breaking("contract-lowered", before.name, text, [
        `keep contract ${before.contract}.`,
        `contracts only grow: state what is to change with since: ${before.contract + 1}.`,
      ]),
    );
  } else if (after.contract > before.contract) {
    found.push(
      additive(
        "contract-raised",
        after.name,
        `Contract ${after.contract} is new; clients have to ask for it.`,
      ),
    );
  }
  return found;
}

function compareTypes(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  for (const [type, old] of Object.entries(before.types)) {
    const entry = own(after.types, type);
    if (entry === undefined) {
      const text = `The condition type ${type} is gone: clients that wait for it wait for ever.`;
      found.push(
        breaking("type-removed", type, text, [
          `keep publishing ${type}, and what replaces it as a type beside it.`,
          announced(before.contract + 1, "lose the type"),
        ]),
      );
    } else found.push(...compareType(type, old, entry, before.contract + 1));
  }
  for (const type of Object.keys(after.types)) {
    if (own(before.types, type) === undefined) {
      found.push(additive("type-added", type, `The condition type ${type} is new.`));
    }
  }
  return found;
}

function compareType(
  type: string,
  before: ConditionTypeEntry,
  after: ConditionTypeEntry,
  next: number,
): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  const remedies = [
    `add a new condition type beside ${type}.`,
    announced(next, "are given the changed type"),
  ] as const;
  if (before.polarity !== after.polarity) {
    const text = `${type}=True was ${before.polarity} and is now ${after.polarity}: clients read the opposite or nothing.`;
    found.push(breaking("type-polarity", type, text, remedies));
  }
  if (before.presence !== after.presence) {
    const text = `${type} was present ${before.presence} and is now ${after.presence}: clients that read its absence take it for something else.`;
    found.push(breaking("type-presence", type, text, remedies));
  }
  if (before.summary !== after.summary)
    found.push(safe("type-text", type, `The summary of ${type} was reworded.`));
  return found;
}

function compareReasons(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  for (const [reason, old] of Object.entries(before.reasons)) {
    const entry = own(after.reasons, reason);
    if (entry) found.push(...compareReason(reason, old, entry, before.contract + 1));
    else found.push(compareRemoval(reason, before, own(after.retired ?? {}, reason)));
  }
  const words = new WordIndex(before);
  for (const [reason, { since = 1 }] of Object.entries(after.reasons)) {
    if (own(before.reasons, reason)) continue;
    const retired = words.retiredNameOf(reason);
    if (retired !== undefined) {
      const text = `${reason} was retired and comes back: clients that still match it take the new meaning for the old one.`;
      found.push(
        breaking("retired-name-reused", reason, text, [
          `choose another name than ${retired}.`,
          stayingReserved(before.contract + 1),
        ]),
      );
    } else {
      const readers = since === 1 ? "every contract" : `contract ${since} and later`;
      found.push(additive("reason-added", reason, `${reason} is new, for readers of ${readers}.`));
    }
  }
  return found;
}

function compareRemoval(
  reason: string,
  before: ReasonCatalog,
  retired: RetiredReason | undefined,
): CatalogDifference {
  const kept = retired?.class ?? "terminal";
  const old = own(before.reasons, reason)?.class ?? kept;
  if (retired && retired.retiredIn > before.contract && kept !== old) {
    const text = `${reason} was ${old} and counts as ${kept} now that it is retired: readers that still know it see another reason.`;
    return breaking("retired-class", reason, text, keepingClass(old, before.contract + 1));
  }
  if (retired && retired.retiredIn > before.contract) {
    const text = `${reason} is retired in contract ${retired.retiredIn}; readers of older contracts still know it.`;
    return safe("reason-retired", reason, text);
  }
  const text = `${reason} is gone: clients that match it never see it again, and its name is free for another meaning.`;
  return breaking("reason-removed", reason, text, [
    `keep ${reason} with deprecatedIn and replacedBy.`,
    `move ${reason} to retired with its class and retiredIn: ${before.contract + 1}, the next contract; state it in ` +
      "generalReasons where the reason that replaces it is emitted, and move its backend words there.",
  ]);
}

/** No contract gives a name back. */
function stayingReserved(next: number): string {
  return `a retired name stays reserved in every contract: give the new meaning a new name with since: ${next}.`;
}

function keepingClass(kept: ReasonClass, next: number): WaysOut {
  return [
    `keep class: "${kept}" with the retired name.`,
    `readers that still know the name are given its class: another class is another reason, with since: ${next}.`,
  ];
}

function compareRetired(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  const next = before.contract + 1;
  for (const [reason, old] of Object.entries(before.retired ?? {})) {
    const entry = own(after.retired ?? {}, reason);
    if (entry === undefined) {
      if (own(after.reasons, reason)) continue;
      const text = `${reason} is no longer reserved: clients that still match it may meet it with another meaning.`;
      found.push(
        breaking("reservation-removed", reason, text, [`keep ${reason} in retired.`, stayingReserved(next)]),
      );
    } else if (entry.retiredIn !== old.retiredIn) {
      const text = `${reason} is retired in contract ${entry.retiredIn} instead of ${old.retiredIn}: readers between see another reason.`;
      found.push(
        breaking("retired-contract", reason, text, [
          `keep retiredIn: ${old.retiredIn}.`,
          `what is retired already is retired for good: only a reason in use can be retired in contract ${next}.`,
        ]),
      );
    } else if ((entry.class ?? "terminal") !== (old.class ?? "terminal")) {
      const text = `The retired ${reason} was ${old.class ?? "terminal"} and is now ${entry.class ?? "terminal"}: readers that still know it see another reason.`;
      found.push(breaking("retired-class", reason, text, keepingClass(old.class ?? "terminal", next)));
    } else if (!sameValue(entry, old)) {
      found.push(safe("retired-text", reason, `What replaces the retired ${reason} was reworded.`));
    }
  }
  for (const reason of Object.keys(after.retired ?? {})) {
    if (own(before.retired ?? {}, reason) || own(before.reasons, reason)) continue;
    found.push(safe("reservation-added", reason, `${reason} is reserved.`));
  }
  return found;
}

function own<Entry>(table: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
