import {
  type CatalogDifference,
  defineReasonCatalog,
  type ReasonCatalog,
} from "../../src/conditions/index.js";

/** The name of whatever a way out asks to add. */
const ADDED = "Finer";

/** A catalog in which a told way out was followed to the letter, and the contracts that the text makes no promise to. */
export interface Followed {
  readonly catalog: ReasonCatalog;
  readonly spared: (contract: number) => boolean;
}

/**
 * Follows a way out of a difference of a publication, as its text tells it and as nothing else does.
 *
 * @param onto - The catalog that is mended: the changed one, or the one before where the change goes no further.
 */
export function follow(before: object, onto: object, difference: CatalogDifference, way: 0 | 1): Followed {
  const text = difference.remedies?.[way] ?? "";
  const catalog = onto as ReasonCatalog;
  const [operation, cause, type = ""] = difference.subject.split("/");
  const emit = { operation, cause, type };
  const others = catalog.emits.filter(
    (each) => [each.operation, each.cause, each.type].join("/") !== difference.subject,
  );
  const all = (contract: number, added: object, emits: readonly object[]): Followed => ({
    catalog: defineReasonCatalog<string, string, string>({
      ...catalog,
      contract: Math.max(contract, catalog.contract),
      reasons: { ...catalog.reasons, ...added },
      emits,
    } as never),
    spared: contractsOf(/for those of contract ([\d, ]+), which does not know/.exec(text)?.[1]),
  });
  const list = (of: string | undefined): readonly string[] => JSON.parse(of ?? "[]") as readonly string[];
  const types = Object.keys(catalog.types);
  const added = (state: object) => ({ [ADDED]: { types, class: "terminal", summary: "s", ...state } });

  const kept = /keep the reason (\w+)(?: with generalReasons: (\[.*?\]))? and state the finer/.exec(text);
  if (kept) {
    const finer = { ...emit, cause: "finer", reason: ADDED };
    return all(1, added({}), [...others, { ...emit, reason: kept[1], generalReasons: list(kept[2]) }, finer]);
  }
  const keptGeneral =
    /keep (?:generalReasons: (\[.*?\]) of )?(\w+)(?: without general reasons)?, and state/.exec(text);
  if (keptGeneral) {
    const emission = { ...emit, reason: keptGeneral[2], generalReasons: list(keptGeneral[1]) };
    return all(1, {}, [...others, emission]);
  }
  const another =
    /add the new (terminal )?reason with since: (\d+), raise contract to (\d+), and state generalReasons: (\[.*?\])/.exec(
      text,
    );
  if (another) {
    const since = Number(another[2]);
    const emission = { ...emit, reason: ADDED, generalReasons: list(another[4]), since };
    return all(Number(another[3]), added({ since, class: another[1] ? "terminal" : "waiting" }), [
      ...others,
      emission,
    ]);
  }
  const general =
    /add the new (non-terminal )?general reason with since: (\d+), raise contract to (\d+), and state generalReasons: (\[.*?\]) of (\w+),/.exec(
      text,
    );
  if (general) {
    const since = Number(general[2]);
    const generalReasons = list(general[4]?.replace("the new one", JSON.stringify(ADDED)));
    return all(Number(general[3]), added({ since, class: general[1] ? "waiting" : "terminal" }), [
      ...others,
      { ...emit, reason: general[5], generalReasons, since },
    ]);
  }
  const asTheyWere = /keep since, class and retirement of ([\w, ]+):/.exec(text);
  if (asTheyWere) {
    const { reasons } = before as ReasonCatalog;
    return all(
      1,
      Object.fromEntries((asTheyWere[1] ?? "").split(", ").map((name) => [name, reasons[name]])),
      catalog.emits,
    );
  }
  if (text.includes("a published reason stays what it was: add another one")) {
    const since = Number(/since: (\d+)/.exec(text)?.[1]);
    const contract = Number(/raise contract to (\d+)/.exec(text)?.[1]);
    return all(contract, { ...(before as ReasonCatalog).reasons, ...added({ since }) }, catalog.emits);
  }
  if (text.includes("use a new reason for the new condition, without general reasons"))
    return all(1, added({}), [...others, { ...emit, reason: ADDED }]);
  const announced =
    /raise contract to (\d+), which announces it; readers of older contracts find it too/.exec(text);
  if (announced) return { ...all(Number(announced[1]), {}, catalog.emits), spared: () => true };
  throw new Error(`nobody could follow: ${text}`);
}

/** Those whose readers are told that it stays breaking for them. */
function contractsOf(named: string | undefined): (contract: number) => boolean {
  const contracts = (named ?? "").split(", ").map(Number);
  return (contract) => contracts.includes(contract);
}
