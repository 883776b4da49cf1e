import { readContract, type ReasonCatalog, type ReasonEntry } from "../../conditions/index.js";
import { type CommandIo, EXIT_OK, UsageError } from "../command.js";
import { loadCatalog } from "./load-catalog.js";
import type { ReasonsOptions } from "./options.js";

/** `slipway reasons list`: the reasons of a catalog, by condition type. */
export async function listReasons(options: ReasonsOptions, io: CommandIo): Promise<number> {
  const catalog = await loadCatalog(options.catalog, io);
  const contract = options.contract === undefined ? catalog.contract : readContract(options.contract);
  if (options.contract !== undefined && String(contract) !== options.contract) {
    throw new UsageError(`--contract takes a positive integer, got ${options.contract}`);
  }
  expectOneOf("--type", options.type, Object.keys(catalog.types));
  expectOneOf("--class", options.class, ["waiting", "transient", "terminal", "informational"]);
  const reasons = Object.entries(catalog.reasons).filter(
    ([, entry]) =>
      (entry.since ?? 1) <= contract &&
      (options.type === undefined || entry.types.includes(options.type)) &&
      (options.class === undefined || entry.class === options.class),
  );
  io.print(
    options.json
      ? JSON.stringify({ name: catalog.name, contract, reasons: Object.fromEntries(reasons) }, null, 2)
      : render(catalog, contract, reasons, options.type),
  );
  return EXIT_OK;
}

function expectOneOf(option: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  throw new UsageError(`${option} takes one of ${known.join(", ")}, got ${value}`);
}

function render(
  catalog: ReasonCatalog,
  contract: number,
  reasons: readonly (readonly [string, ReasonEntry])[],
  only: string | undefined,
): string {
  const width = Math.max(0, ...reasons.map(([name]) => name.length));
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
  return [`${catalog.name}, contract ${contract}`, ...sections].join("\n\n");
}
