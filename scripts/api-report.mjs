/**
 * Writes what each entry of the package exports, with its signatures, into docs/api-report/: a change of the public
 * surface shows in the diff of a commit. With --check it fails when a report is not up to date.
 *
 *   node scripts/api-report.mjs [--check]
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const reports = join(root, "docs", "api-report");
const temp = mkdtempSync(join(tmpdir(), "slipway-api-"));
const check = process.argv.includes("--check");
mkdirSync(reports, { recursive: true });

let stale = 0;
try {
  for (const [entry, target] of Object.entries(manifest.exports)) {
    if (typeof target === "string") continue;
    const name = entry === "." ? "slipway" : entry.slice(2);
    const file = `${name}.api.md`;
    const config = ExtractorConfig.prepare({
      configObject: {
        projectFolder: root,
        mainEntryPointFilePath: join(root, target.types),
        apiReport: {
          enabled: true,
          reportFileName: file,
          reportFolder: temp,
          reportTempFolder: join(temp, "temp"),
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        compiler: { tsconfigFilePath: join(root, "tsconfig.src.json") },
        newlineKind: "lf",
        messages: {
          // The reports are for reading signatures; types, links and release tags have gates of their own.
          compilerMessageReporting: { default: { logLevel: "none" } },
          extractorMessageReporting: { default: { logLevel: "none" } },
          tsdocMessageReporting: { default: { logLevel: "none" } },
        },
      },
      configObjectFullPath: undefined,
      packageJsonFullPath: join(root, "package.json"),
    });
    Extractor.invoke(config, { localBuild: true, messageCallback: (message) => (message.handled = true) });
    const report = readFileSync(join(temp, file), "utf8");
    const path = join(reports, file);
    const before = readOrNull(path);
    if (before === report) continue;
    if (check) {
      stale += 1;
      console.error(
        `docs/api-report/${file} is not up to date: run node scripts/api-report.mjs and look at the difference`,
      );
    } else writeFileSync(path, report);
  }
} finally {
  rmSync(temp, { recursive: true, force: true });
}
if (stale > 0) process.exitCode = 1;
else console.log(check ? "every API report is up to date" : "API reports written");

function readOrNull(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
