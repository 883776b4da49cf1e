import { type CatalogDifference, compareCatalogs, type ReasonCatalog } from "../../conditions/index.js";

/** What a comparison of a catalog with its lock comes to. */
export interface Verdict {
  readonly differences: readonly CatalogDifference[];
  readonly breaking: readonly CatalogDifference[];
  /**
   * Whether the contract of the catalog is newer than the lock's, which announces a breaking change to clients. The
   * number of another catalog announces nothing.
   */
  readonly newContract: boolean;
}

/** Compares a catalog with the one that is locked. */
export function judge(locked: ReasonCatalog, catalog: ReasonCatalog): Verdict {
  const differences = compareCatalogs(locked, catalog);
  const breaking = differences.filter(({ level }) => level === "breaking");
  return {
    differences,
    breaking,
    newContract: catalog.name === locked.name && catalog.contract > locked.contract,
  };
}

/** The differences for people, the worst first, with the ways out of the breaking ones, once for what shares them. */
export function renderDifferences(differences: readonly CatalogDifference[]): string {
  const order = ["breaking", "additive", "safe"];
  const sorted = [...differences].sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
  return sorted
    .flatMap(({ level, kind, subject, explanation, remedies = [] }, index) => {
      const next = sorted[index + 1];
      const shared = next?.subject === subject && next.remedies?.join() === remedies.join();
      return [
        `${level}: ${explanation} [${kind}]`,
        ...(shared ? [] : remedies.map((remedy) => `    way out: ${remedy}`)),
      ];
    })
    .join("\n");
}
