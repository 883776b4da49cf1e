/**
 * Writes docs/reasons.md from the built-in catalog; with `--check` only says whether it is up to date.
 *
 *   npm run build && node scripts/reasons-page.mjs [--check]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const page = join(dirname(fileURLToPath(import.meta.url)), "../docs/reasons.md");

const intro = (catalog) => `# Reasons

Generated from the catalog \`${catalog.name}\`, contract ${catalog.contract}. Do not edit: run \`node scripts/reasons-page.mjs\`.

A condition carries one of these words in \`reason\`. Expect words that are not listed: a newer gateway may send them. Ask with
\`matchesReason\`, which also finds a reason behind the one that is shown.

| Class | What it says about the future |
| --- | --- |
| \`waiting\` | Work goes on. |
| \`transient\` | A fault that may pass by itself. |
| \`terminal\` | Nothing changes until somebody acts. Once the cause is removed, start the sandbox again. |
| \`informational\` | A fact that is no fault. |
`;

const presence = {
  always: "always there",
  "while-true": "there while it is true",
  "once-reached": "there once reached",
};
const polarity = { positive: "`True` is good", negative: "`True` is bad", neutral: "neither is bad" };

/** The page for a catalog. Depends on nothing else, so that it is the same on every machine. */
export function renderReasonsPage(catalog) {
  const sections = Object.entries(catalog.types).map(([type, entry]) => renderType(catalog, type, entry));
  return [intro(catalog), ...sections, renderWords(catalog)].join("\n");
}

function renderType(catalog, type, entry) {
  const reasons = Object.entries(catalog.reasons).filter(([, { types }]) => types.includes(type));
  const lines = [
    `## ${type}`,
    "",
    `${entry.summary} (${polarity[entry.polarity]}; ${presence[entry.presence]}.)`,
    "",
    "| Reason | Class | Phases | Meaning | What to do | Published by |",
    "| --- | --- | --- | --- | --- | --- |",
    ...reasons.map(([name, reason]) => renderReason(catalog, type, name, reason)),
  ];
  return `${lines.join("\n")}\n`;
}

function renderReason(catalog, type, name, reason) {
  const marks = [
    (reason.since ?? 1) > 1 ? `contract ${reason.since}` : "",
    reason.deprecatedIn === undefined ? "" : `deprecated, use \`${reason.replacedBy}\``,
  ].filter(Boolean);
  const emissions = catalog.emits.filter((emission) => emission.reason === name && emission.type === type);
  const operations = emissions.map(({ operation, generalReasons = [] }) => {
    const general = generalReasons.map((each) => `\`${each}\``).join(", ");
    return `${operation}${general && ` (as a case of ${general})`}`;
  });
  const cells = [
    `\`${name}\`${marks.length > 0 ? ` (${marks.join("; ")})` : ""}`,
    reason.class,
    reason.phases?.join(", ") ?? "any",
    reason.summary,
    reason.action ?? "",
    [...new Set(operations)].join(", "),
  ];
  return `| ${cells.map(escape).join(" | ")} |`;
}

function renderWords(catalog) {
  const rows = Object.entries(catalog.reasons).flatMap(([name, { sources = [] }]) =>
    sources.map(({ backend, raw, versions = "" }) => ({ backend, raw, versions, name })),
  );
  rows.sort((a, b) => (a.backend < b.backend ? -1 : a.backend > b.backend ? 1 : 0));
  const lines = [
    "## What backends print",
    "",
    "Libvirt's words are `state/reason` numbers.",
    "",
    "| Backend | Its words | Versions | Reason |",
    "| --- | --- | --- | --- |",
    ...rows.map(({ backend, raw, versions, name }) => {
      const words = raw.map((word) => `\`${word}\``).join(", ");
      return `| ${[backend, words, versions, `\`${name}\``].map(escape).join(" | ")} |`;
    }),
  ];
  return `${lines.join("\n")}\n`;
}

function escape(text) {
  return text.replaceAll("|", "\\|");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { sandboxReasons } = await import("../dist/conditions/index.js");
  const text = renderReasonsPage(sandboxReasons);
  if (!process.argv.includes("--check")) writeFileSync(page, text);
  else if (readFileSync(page, "utf8") !== text) {
    console.error("docs/reasons.md is not up to date: run node scripts/reasons-page.mjs");
    process.exitCode = 1;
  }
}
