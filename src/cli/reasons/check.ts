import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from "../command.js";
import { loadCatalog, loadLock } from "./load-catalog.js";
import { judge, renderDifferences, type Verdict } from "./verdict.js";
import { commandLine, type ReasonsOptions } from "./options.js";

/** `slipway reasons check`: fails a build whose catalog would break clients of the locked one. */
export async function checkReasons(options: ReasonsOptions, io: CommandIo): Promise<number> {
  const catalog = await loadCatalog(options.catalog, io);
  const locked = loadLock(options.lock, io);
  if (locked === undefined)
    throw new UsageError(`${options.lock} does not exist: write it with ${commandLine("lock", options)}`);
  const verdict = judge(locked, catalog);
  const failed = fails(verdict, options);
  io.print(
    options.json
      ? JSON.stringify(
          {
            ok: !failed,
            name: catalog.name,
            contract: { locked: locked.contract, now: catalog.contract },
            differences: verdict.differences,
          },
          null,
          2,
        )
      : render(verdict, failed, options),
  );
  return failed ? EXIT_FAILED : EXIT_OK;
}

function fails({ differences, breaking, newContract }: Verdict, { frozen, strict }: ReasonsOptions): boolean {
  if (frozen && differences.length > 0) return true;
  return breaking.length > 0 && (strict || !newContract);
}

function render(verdict: Verdict, failed: boolean, options: ReasonsOptions): string {
  const { differences, breaking } = verdict;
  if (differences.length === 0) return `${options.lock} is up to date.`;
  const lines = [renderDifferences(differences), ""];
  const count = `${breaking.length} breaking of ${differences.length} differences`;
  if (breaking.length > 0 && failed)
    lines.push(`${count}: clients written against ${options.lock} would break.`);
  else if (breaking.length > 0) {
    lines.push(
      `${count}, announced by a new contract. A reader that does not ask gets contract 1: see that it still holds.`,
    );
  } else lines.push(`${count}.`);
  if (breaking.length === 0 || !failed)
    lines.push(`Record what is intended with: ${commandLine("lock", options)}`);
  return lines.join("\n");
}
