import { shownIndex } from "../convert-conditions.js";
import { sameValue } from "../same-value.js";
import { additive, breaking, type CatalogDifference, safe } from "./catalog-difference.js";
import { waysOutOf } from "./emission-ways-out.js";
import type { ReasonCatalog, ReasonEmission } from "./reason-catalog.js";

/** What a reader of one contract sees of an emission. */
interface Sight {
  /** The reason that the condition shows. */
  readonly reason: string;
  /** The cause that a conversion shows beside it. */
  readonly cause: string | undefined;
  /** What it matches, however it is asked. */
  readonly matches: ReadonlySet<string>;
  /** What it matches when causes do not count. */
  readonly general: ReadonlySet<string>;
}

/**
 * What clients of each contract of `before` see differently: a difference for each emission and each thing that its
 * readers see, with the contracts of those who see it.
 *
 * A writer stores one condition, the newest emission, and every contract is judged by converting that one: an older
 * emission that is still in the list protects nobody.
 *
 * @internal
 */
export function compareEmissions(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  const [old, now] = [emittingOf(before), emittingOf(after)];
  const contracts = contractsOf(before, after);
  const names = new Set([...Object.keys(before.reasons), ...Object.keys(before.retired ?? {})]);
  for (const situation of old.situations.values()) {
    const types = new Set([...situation.emissions, ...emissionsFor(now, situation)].map(({ type }) => type));
    for (const type of types) {
      const subject = `${situation.operation}/${situation.cause}/${type}`;
      const changes = contracts.flatMap((contract) => {
        const change = compareAt(old, now, situation, type, contract, names);
        return change === undefined ? [] : [{ contract, ...change }];
      });
      const [was, is] = [newestOf(old, situation, type), newestOf(now, situation, type)];
      const waysOut = waysOutOf(before, was, is, contracts);
      // Readers of one contract may see something else than those of another, so none speaks for all.
      for (const { kind, text } of new Map(changes.map((change) => [change.text, change])).values()) {
        const affected = changes.filter((change) => change.text === text).map(({ contract }) => contract);
        const explanation = `${subject}: ${text} (contract ${affected.join(", ")})`;
        found.push(breaking(kind, subject, explanation, waysOut, affected));
      }
    }
  }
  return [...found, ...remaining(before, after, new Set(found.map(({ subject }) => subject)))];
}

interface Situation {
  readonly operation: string;
  readonly cause: string;
  readonly emissions: readonly ReasonEmission[];
}

/** A catalog with its emissions by situation, so that none is looked for among all of them. */
interface Emitting {
  readonly catalog: ReasonCatalog;
  readonly situations: ReadonlyMap<string, Situation>;
}

function compareAt(
  before: Emitting,
  after: Emitting,
  situation: Situation,
  type: string,
  contract: number,
  names: ReadonlySet<string>,
): { kind: string; text: string } | undefined {
  const old = sightOf(before, situation, type, contract);
  const now = sightOf(after, situation, type, contract);
  if (old === undefined) {
    // On a type that was there before, its readers see another answer; on a new one, those who look at any type.
    const [where, seen] = Object.hasOwn(before.catalog.types, type)
      ? ["readers of that type", []]
      : ["clients that look at any type", sightsOf(before, situation, contract)];
    if (now === undefined || !surprises(now, seen, names)) return undefined;
    const text = `${now.reason} is now published on ${type}, where ${where} find what they did not`;
    return { kind: "emission-added", text };
  }
  if (now === undefined) {
    return {
      kind: "emission-removed",
      text: `${old.reason} is no longer published on ${type}; ${missed(old.reason)}`,
    };
  }
  if (now.reason !== old.reason) {
    return {
      kind: "emission-reason",
      text: `${type} shows ${now.reason} where it showed ${old.reason}; ${missed(old.reason)}`,
    };
  }
  if (old.cause !== undefined && now.cause !== old.cause) {
    const shown = now.cause === undefined ? "without a cause" : `with the cause ${now.cause}`;
    const text = `${type} shows ${old.reason} ${shown} where it showed the cause ${old.cause}; clients that read cause.reason see another answer`;
    return { kind: "emission-cause", text };
  }
  for (const ask of ["matches", "general"] as const) {
    const lost = [...old[ask]].find((name) => !now[ask].has(name));
    const gained = [...now[ask]].find((name) => names.has(name) && !old[ask].has(name));
    if (lost !== undefined) {
      return {
        kind: "emission-match",
        text: `${now.reason} on ${type} no longer matches ${lost}; ${missed(lost)}`,
      };
    }
    if (gained !== undefined) {
      const text = `${now.reason} on ${type} now matches ${gained} too, so clients that match it see cases they did not`;
      return { kind: "emission-match", text };
    }
  }
  return undefined;
}

/** Whether a client that looks for a name on any condition of the list finds it now, where it found nothing. */
function surprises(now: Sight, before: readonly Sight[], names: ReadonlySet<string>): boolean {
  if (names.has(now.reason) && !before.some((sight) => sight.reason === now.reason)) return true;
  return (["matches", "general"] as const).some((ask) =>
    [...now[ask]].some((name) => names.has(name) && !before.some((sight) => sight[ask].has(name))),
  );
}

function missed(reason: string): string {
  return (
    `automation, CLI JSON consumers and SDK clients that match conditions[].reason == "${reason}" ` +
    "for this finding will miss it"
  );
}

function sightOf(
  emitting: Emitting,
  situation: Situation,
  type: string,
  contract: number,
): Sight | undefined {
  const emission = newestOf(emitting, situation, type);
  if (emission === undefined) return undefined;
  const chain = [emission.reason, ...(emission.generalReasons ?? [])];
  const index = shownIndex(chain, emitting.catalog, contract);
  return {
    reason: chain[index] ?? emission.reason,
    cause: index > 0 ? chain[0] : undefined,
    matches: new Set(chain),
    general: new Set(chain.slice(index)),
  };
}

/** The emission that is stored: one for each situation and type, whoever reads it. */
function newestOf(emitting: Emitting, situation: Situation, type: string): ReasonEmission | undefined {
  return emissionsFor(emitting, situation)
    .filter((candidate) => candidate.type === type)
    .reduce<ReasonEmission | undefined>(
      (latest, candidate) => ((candidate.since ?? 1) > (latest?.since ?? 0) ? candidate : latest),
      undefined,
    );
}

function sightsOf(emitting: Emitting, situation: Situation, contract: number): readonly Sight[] {
  const types = new Set(emissionsFor(emitting, situation).map(({ type }) => type));
  return [...types].flatMap((type) => sightOf(emitting, situation, type, contract) ?? []);
}

/** What differs in the lists although no reader of an older contract sees it. */
function remaining(
  before: ReasonCatalog,
  after: ReasonCatalog,
  reported: ReadonlySet<string>,
): readonly CatalogDifference[] {
  const [old, now] = [byKey(before), byKey(after)];
  const found: CatalogDifference[] = [];
  for (const [key, emission] of now) {
    const previous = old.get(key);
    const subject = `${emission.operation}/${emission.cause}/${emission.type}`;
    if (reported.has(subject) || (previous && sameStatement(previous, emission))) continue;
    const text = `${subject} publishes ${emission.reason}`;
    found.push(
      previous === undefined
        ? additive("emission-added", subject, `${text} from contract ${emission.since ?? 1} on.`)
        : additive("emission-refined", subject, `${text}; readers of older contracts see what they saw.`),
    );
  }
  for (const [key, emission] of old) {
    const subject = `${emission.operation}/${emission.cause}/${emission.type}`;
    if (now.has(key) || reported.has(subject)) continue;
    found.push(
      safe("emission-replaced", subject, `${subject} is stated by another entry with the same effect.`),
    );
  }
  return found;
}

function sameStatement(a: ReasonEmission, b: ReasonEmission): boolean {
  return a.reason === b.reason && sameValue(a.generalReasons ?? [], b.generalReasons ?? []);
}

function byKey(catalog: ReasonCatalog): ReadonlyMap<string, ReasonEmission> {
  return new Map(
    catalog.emits.map((emission) => {
      const { operation, cause, type, since = 1 } = emission;
      return [JSON.stringify([operation, cause, type, since]), emission];
    }),
  );
}

function emittingOf(catalog: ReasonCatalog): Emitting {
  const situations = new Map<string, Situation & { readonly emissions: ReasonEmission[] }>();
  for (const emission of catalog.emits) {
    const { operation, cause } = emission;
    const key = keyOf(emission);
    const situation = situations.get(key);
    if (situation === undefined) situations.set(key, { operation, cause, emissions: [emission] });
    else situation.emissions.push(emission);
  }
  return { catalog, situations };
}

function keyOf({ operation, cause }: Pick<Situation, "operation" | "cause">): string {
  return JSON.stringify([operation, cause]);
}

function emissionsFor({ situations }: Emitting, situation: Situation): readonly ReasonEmission[] {
  return situations.get(keyOf(situation))?.emissions ?? [];
}

/** Beyond so many contracts only those are named at which something changes. */
const MOST_CONTRACTS = 100;

/** The contracts of `before`, or those of them at which anything may start to look different. */
function contractsOf(before: ReasonCatalog, after: ReasonCatalog): readonly number[] {
  if (before.contract <= MOST_CONTRACTS)
    return Array.from({ length: before.contract }, (_, index) => index + 1);
  const points = [before, after].flatMap(({ reasons, retired }) => [
    ...Object.values(reasons).map(({ since }) => since ?? 1),
    ...Object.values(retired ?? {}).map(({ retiredIn }) => retiredIn),
  ]);
  return [...new Set([1, ...points])].filter((point) => point <= before.contract).sort((a, b) => a - b);
}
