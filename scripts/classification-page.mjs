/**
 * Writes docs/bootstrap-failures.md from the classification tables; with `--check` only says whether it is up to date.
 *
 *   npm run build && node scripts/classification-page.mjs [--check]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const page = join(dirname(fileURLToPath(import.meta.url)), "../docs/bootstrap-failures.md");

const INTRO = `# What a bootstrap failure means

Generated from the tables in \`src/retry/classify\`. Do not edit: run \`node scripts/classification-page.mjs\`.

\`classify(error)\` looks at an error, its causes and the members of aggregates, and finds the rows below. Within a chain the most
specific permanent row wins. What is in no table is suspect; an error of the program itself is permanent.

| Verdict | What the retrier does |
| --- | --- |
| \`transient\` | tries again until the deadline |
| \`suspect\` | tries again until three in a row and 60 s are both reached, then reports it as permanent |
| \`permanent\` | reports it at once |
`;

const cell = (text) => text.replaceAll("|", "\\|");

function section(title, note, rows) {
  return [
    `## ${title}`,
    "",
    ...(note === "" ? [] : [note, ""]),
    "| Code | Verdict | Kind | Why |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      ([code, { verdict, kind, explanation }]) =>
        `| \`${cell(String(code))}\` | ${verdict} | ${kind} | ${cell(explanation)} |`,
    ),
    "",
  ].join("\n");
}

/** The page for the tables of `slipway/retry`. Depends on nothing else, so that it is the same on every machine. */
export function renderClassificationPage(tables) {
  const { networkCodes, localCodes, connectCodes, fileCodes, tlsCodes, tlsAlerts } = tables;
  const { grpcStatuses, httpStatuses, tlsPhrases, resetAfterHandshake } = tables;
  const phrases = tlsPhrases.map(([phrase, code]) => `| \`${cell(phrase.source)}\` | \`${code}\` |`);
  return [
    INTRO,
    section("Sockets, resolvers and HTTP clients", "", Object.entries(networkCodes)),
    section("This machine", "", Object.entries(localCodes)),
    section(
      "Connecting",
      "What these mean when `syscall` is `connect`, for instance to a unix socket.",
      Object.entries(connectCodes),
    ),
    section(
      "Files",
      "What these mean otherwise. A missing file of certificates is permanent: it is configuration.",
      Object.entries(fileCodes),
    ),
    section(
      "TLS",
      "Verification is never weakened. A reset right after the handshake has a row of its own, for operations that put `secureConnectedAt` on what they throw.",
      [...Object.entries(tlsCodes), ["reset after the handshake", resetAfterHandshake]],
    ),
    section("TLS alerts", "By the end of the code.", Object.entries(tlsAlerts)),
    "## TLS failures in words\n\nA gRPC client reports them as `UNAVAILABLE`; the first phrase that occurs decides.\n\n| Phrase | Read as |\n| --- | --- |",
    `${phrases.join("\n")}\n`,
    section("gRPC", "`UNAVAILABLE` is looked into first.", Object.entries(grpcStatuses)),
    section(
      "HTTP",
      "`403` with `Retry-After` or a used-up rate limit is transient.",
      Object.entries(httpStatuses),
    ),
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tables = await import("../dist/retry/index.js");
  const text = renderClassificationPage(tables);
  if (!process.argv.includes("--check")) {
    writeFileSync(page, text);
  } else if (readFileSync(page, "utf8") !== text) {
    console.error(
      "docs/bootstrap-failures.md is out of date: run npm run build && node scripts/classification-page.mjs",
    );
    process.exitCode = 1;
  }
}
