import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from "../command.js";
import { loadCatalog, loadLock, lockText, messageOf } from "./load-catalog.js";
import { judge, renderDifferences } from "./verdict.js";
import { commandLine, type ReasonsOptions } from "./options.js";

/** `slipway reasons lock`: records the catalog, unless that would hide a breaking change. */
export async function lockReasons(options: ReasonsOptions, io: CommandIo): Promise<number> {
  const catalog = await loadCatalog(options.catalog, io);
  const named = { lock: options.lock, name: catalog.name, contract: catalog.contract };
  const locked = options.force ? undefined : loadLock(options.lock, io);
  const verdict = locked && judge(locked, catalog);
  if (verdict && verdict.breaking.length > 0 && !verdict.newContract) {
    if (options.json)
      io.print(JSON.stringify({ ok: false, ...named, differences: verdict.differences }, null, 2));
    else {
      io.complain(
        `${renderDifferences(verdict.breaking)}\n${options.lock} was not written: see the ways out, or record it all the ` +
          `same with: ${commandLine("lock", options)} --force`,
      );
    }
    return EXIT_FAILED;
  }
  try {
    io.write(options.lock, lockText(catalog));
  } catch (error) {
    throw new UsageError(`${options.lock} cannot be written: ${messageOf(error)}`);
  }
  io.print(
    options.json
      ? JSON.stringify({ ok: true, ...named })
      : `${options.lock}: ${catalog.name}, contract ${catalog.contract}, ${Object.keys(catalog.reasons).length} reasons`,
  );
  return EXIT_OK;
}
