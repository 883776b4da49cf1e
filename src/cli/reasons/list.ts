import {
  readContract,
  type ReasonCatalog,
  type ReasonEntry,
  type RetiredReason,
} from "../../conditions/index.js";
import { type CommandIo, EXIT_OK, UsageError } from "../command.js";
import { loadCatalog } from "./load-catalog.js";
import { expectOneOf, type ReasonsOptions } from "./options.js";

/** `slipway reasons list`: the reasons of a catalog, by condition type. */
export async function listReasons(options: ReasonsOptions, io: CommandIo): Promise<number> {
  const catalog = await loadCatalog(options.catalog, io);
  const contract = options.contract === undefined ? catalog.contract : readContract(options.contract);
  if (
    options.contract !== undefined &&
    (String(contract) !== options.contract || contract > catalog.contract)
  ) {
    throw new UsageError(
      `expected a contract of the catalog ${catalog.name}, 1 to ${catalog.contract}, after --contract, found ${options.contract}`,
    );
  }
  expectOneOf("--type", options.type, Object.keys(catalog.types));
  expectOneOf("--class", options.class, ["waiting", "transient", "terminal", "informational"]);
  const reasons = Object.entries(catalog.reasons).filter(
    ([, entry]) =>
      (entry.since ?? 1) <= contract &&
      (options.type === undefined || entry.types.includes(options.type)) &&
      (options.class === undefined || entry.class === options.class),
  );
  // Readers of this contract still know them. On which types they sat is not kept.
  const retired = Object.entries(catalog.retired ?? {}).filter(
    ([, entry]) =>
      entry.retiredIn > contract &&
      options.type === undefined &&
      (options.class === undefined || (entry.class ?? "terminal") === options.class),
  );
  io.print(
    options.json
      ? JSON.stringify(
          {
            name: catalog.name,
            contract,
            reasons: Object.fromEntries(reasons),
            retired: Object.fromEntries(retired),
          },
          null,
          2,
        )
      : render(catalog, contract, reasons, retired, options.type),
  );
  return EXIT_OK;
}

function render(
  catalog: ReasonCatalog,
  contract: number,
  reasons: readonly (readonly [string, ReasonEntry])[],
  retired: readonly (readonly [string, RetiredReason])[],
  only: string | undefined,
): string {
  const width = Math.max(0, ...[...reasons, ...retired].map(([name]) => name.length));
  const sections = Object.keys(catalog.types)
    .filter((type) => only === undefined || only === type)
    .map((type) => [type, reasons.filter(([, entry]) => entry.types.includes(type))] as const)
    .filter(([, listed]) => listed.length > 0)
    .map(([type, listed]) => {
      const lines = listed.map(
        ([name, entry]) => `  ${name.padEnd(width)}  ${entry.class.padEnd(13)}  ${entry.summary}`,
      );
      return [type, ...lines].join("\n");
    });
  if (retired.length > 0) {
    const lines = retired.map(([name, { class: kept = "terminal", retiredIn, replacedBy }]) => {
      const instead = replacedBy === undefined ? "" : ` for ${replacedBy}`;
      return `  ${name.padEnd(width)}  ${kept.padEnd(13)}  Retired in contract ${retiredIn}${instead}.`;
    });
    sections.push(["Retired later", ...lines].join("\n"));
  }
  return [`${catalog.name}, contract ${contract}`, ...sections].join("\n\n");
}
