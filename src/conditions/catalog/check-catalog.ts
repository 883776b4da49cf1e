import { invalid, type SlipwayError } from "../../errors.js";
import { isConditionType, isReason } from "../condition-shape.js";
import { reasonClass } from "./catalog-lookup.js";
import type {
  ConditionTypeEntry,
  ReasonCatalog,
  ReasonEmission,
  ReasonEntry,
  RetiredReason,
} from "./reason-catalog.js";

type Check = (valid: boolean, field: string, expected: string, value: unknown) => void;

const POLARITIES = ["positive", "negative", "neutral"];
const PRESENCES = ["always", "while-true", "once-reached"];
const CLASSES = ["waiting", "transient", "terminal", "informational"];

/**
 * Refuses a catalog that contradicts itself.
 *
 * @param inherited - How many of the emissions, the first ones, are another catalog's: those of its own count from 0.
 *
 * @throws SlipwayError `INVALID_CATALOG` - with the path of the first wrong field.
 *
 * @internal
 */
export function checkCatalog(catalog: ReasonCatalog, inherited = 0): void {
  const check: Check = (valid, field, expected, value) => {
    if (!valid) throw invalidCatalog(field, expected, value);
  };
  check(isObject(catalog), "", "an object", catalog);
  const { name, contract, types, reasons, emits, retired = {} } = catalog;
  check(isText(name), "name", "a name", name);
  check(isContract(contract), "contract", "a positive integer", contract);
  check(isObject(types), "types", "an object", types);
  check(isObject(reasons), "reasons", "an object", reasons);
  check(isObject(retired), "retired", "an object", retired);
  check(Array.isArray(emits), "emits", "an array", emits);

  checkNames(Object.keys(types), "types", isConditionType, check);
  checkNames([...Object.keys(reasons), ...Object.keys(retired)], "reasons", isReason, check);
  for (const [type, entry] of Object.entries(types)) checkType(type, entry, check);
  // Shapes first: the references of one reason lead through the others.
  for (const [reason, entry] of Object.entries(reasons)) checkReason(catalog, reason, entry, check);
  for (const [reason, entry] of Object.entries(retired)) checkRetired(catalog, reason, entry, check);
  for (const [reason, entry] of Object.entries(reasons)) checkReferences(catalog, reason, entry, check);
  checkWords(catalog, check);
  // Those of another catalog come first and were checked with it.
  emits.forEach((emission, index) =>
    checkEmission(catalog, emission, index, `emits[${index - inherited}]`, check),
  );
}

function checkType(type: string, entry: ConditionTypeEntry, check: Check): void {
  const at = `types.${type}`;
  check(isObject(entry), at, "an object", entry);
  check(PRESENCES.includes(entry.presence), `${at}.presence`, PRESENCES.join(" or "), entry.presence);
  check(POLARITIES.includes(entry.polarity), `${at}.polarity`, POLARITIES.join(" or "), entry.polarity);
  check(isText(entry.summary), `${at}.summary`, "a sentence", entry.summary);
}

/**
 * The error for one wrong field of a catalog.
 *
 * @internal
 */
export function invalidCatalog(field: string, expected: string, value: unknown): SlipwayError {
  return invalid("INVALID_CATALOG", "catalog", field, expected, value);
}

/** Two names that differ by case only read as one to people and to lenient clients. */
function checkNames(names: string[], field: string, isName: (name: string) => boolean, check: Check): void {
  const seen = new Set<string>();
  for (const name of names) {
    check(isName(name), `${field}.${name}`, "a name that Kubernetes accepts", name);
    check(
      !seen.has(name.toLowerCase()),
      `${field}.${name}`,
      "unlike every other name, letter case aside",
      name,
    );
    seen.add(name.toLowerCase());
  }
}

function checkReason(catalog: ReasonCatalog, reason: string, entry: ReasonEntry, check: Check): void {
  const at = `reasons.${reason}`;
  check(isObject(entry), at, "an object", entry);
  const { types, since = 1, deprecatedIn, replacedBy, refines = [], sources = [], phases = [] } = entry;
  check(isTexts(types) && types.length > 0, `${at}.types`, "at least one condition type", types);
  for (const type of types)
    check(Object.hasOwn(catalog.types, type), `${at}.types`, "types of this catalog", type);
  check(CLASSES.includes(entry.class), `${at}.class`, CLASSES.join(" or "), entry.class);
  check(isTexts(phases), `${at}.phases`, "a list of phases", phases);
  check(isContract(since) && since <= catalog.contract, `${at}.since`, "a contract of this catalog", since);
  if (deprecatedIn !== undefined) {
    const valid = isContract(deprecatedIn) && deprecatedIn >= since && deprecatedIn <= catalog.contract;
    check(valid, `${at}.deprecatedIn`, "a contract of this catalog, not before since", deprecatedIn);
  }
  check(isTexts(refines), `${at}.refines`, "a list of reasons", refines);
  for (const general of refines)
    check(Object.hasOwn(catalog.reasons, general), `${at}.refines`, "reasons of this catalog", general);
  checkReplacement(catalog, at, replacedBy, check);
  check(Array.isArray(sources), `${at}.sources`, "a list of sources", sources);
  for (const source of sources) {
    check(isObject(source), `${at}.sources`, "a list of sources", source);
    const { backend, raw, versions } = source;
    check(isText(backend), `${at}.sources.backend`, "a name", backend);
    check(isTexts(raw) && raw.length > 0, `${at}.sources.raw`, "the backend's words", raw);
    check(
      versions === undefined || isText(versions),
      `${at}.sources.versions`,
      "a range of versions",
      versions,
    );
  }
  check(isText(entry.summary), `${at}.summary`, "a sentence", entry.summary);
  check(entry.action === undefined || isText(entry.action), `${at}.action`, "a sentence", entry.action);
}

function checkReplacement(
  catalog: ReasonCatalog,
  at: string,
  replacedBy: string | undefined,
  check: Check,
): void {
  const leads =
    replacedBy === undefined || (isText(replacedBy) && Object.hasOwn(catalog.reasons, replacedBy));
  check(leads, `${at}.replacedBy`, "a reason of this catalog", replacedBy);
}

function checkReferences(catalog: ReasonCatalog, reason: string, entry: ReasonEntry, check: Check): void {
  const at = `reasons.${reason}`;
  for (const general of entry.refines ?? []) checkGeneral(catalog, reason, general, `${at}.refines`, check);
  const replacement = (name: string): string[] => [catalog.reasons[name]?.replacedBy ?? []].flat();
  check(!reaches(reason, replacement), `${at}.replacedBy`, "free of circles", entry.replacedBy);
  const general = (name: string): readonly string[] => catalog.reasons[name]?.refines ?? [];
  check(!reaches(reason, general), `${at}.refines`, "free of circles", entry.refines);
}

/** A word of a backend means one reason. One reason may claim it twice, for other versions. */
function checkWords({ reasons }: ReasonCatalog, check: Check): void {
  const claimed = new Map<string, string>();
  for (const [reason, { sources = [] }] of Object.entries(reasons)) {
    for (const { backend, raw } of sources) {
      for (const word of raw) {
        const key = JSON.stringify([backend, word.toLowerCase()]);
        const owner = claimed.get(key) ?? reason;
        check(owner === reason, `reasons.${reason}.sources.raw`, `a word that ${owner} does not claim`, word);
        claimed.set(key, reason);
      }
    }
  }
}

function checkRetired(catalog: ReasonCatalog, reason: string, entry: RetiredReason, check: Check): void {
  const at = `retired.${reason}`;
  check(isObject(entry), at, "an object", entry);
  const { retiredIn, replacedBy, class: kept } = entry;
  const valid = isContract(retiredIn) && retiredIn > 1 && retiredIn <= catalog.contract;
  check(valid, `${at}.retiredIn`, "a contract after the first", retiredIn);
  check(kept === undefined || CLASSES.includes(kept), `${at}.class`, CLASSES.join(" or "), kept);
  checkReplacement(catalog, at, replacedBy, check);
}

function checkEmission(
  catalog: ReasonCatalog,
  emission: ReasonEmission,
  index: number,
  at: string,
  check: Check,
): void {
  check(isObject(emission), at, "an object", emission);
  const { operation, cause, type, reason, generalReasons = [], since = 1 } = emission;
  check(isText(operation), `${at}.operation`, "a name", operation);
  check(isText(cause), `${at}.cause`, "a name", cause);
  const known = isText(reason) && Object.hasOwn(catalog.reasons, reason);
  check(known, `${at}.reason`, "a reason of this catalog", reason);
  check(catalog.reasons[reason]?.types.includes(type) === true, `${at}.type`, `a type of ${reason}`, type);
  check(isContract(since) && since <= catalog.contract, `${at}.since`, "a contract of this catalog", since);
  check(isTexts(generalReasons), `${at}.generalReasons`, "a list of reasons", generalReasons);
  for (const general of generalReasons) {
    const there = Object.hasOwn(catalog.reasons, general) || Object.hasOwn(catalog.retired ?? {}, general);
    check(there && general !== reason, `${at}.generalReasons`, "other reasons of this catalog", general);
    checkGeneral(catalog, reason, general, `${at}.generalReasons`, check);
  }
  const twin = catalog.emits.findIndex(
    (other) =>
      other.operation === operation &&
      other.cause === cause &&
      other.type === type &&
      (other.since ?? 1) === since,
  );
  check(twin === index, at, "the only emission of its operation, cause, type and contract", emission);
}

/** An older client that is shown the general reason must not give up on what may still come right. */
function checkGeneral(
  catalog: ReasonCatalog,
  reason: string,
  general: string,
  field: string,
  check: Check,
): void {
  const invents = reasonClass(catalog, general) === "terminal" && reasonClass(catalog, reason) !== "terminal";
  check(!invents, field, `non-terminal, as ${reason} is`, general);
}

function reaches(start: string, next: (name: string) => readonly string[]): boolean {
  const seen = new Set<string>();
  const queue = [...next(start)];
  for (const name of queue) {
    if (name === start) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    queue.push(...next(name));
  }
  return false;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isContract(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
