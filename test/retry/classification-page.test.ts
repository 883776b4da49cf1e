import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { renderClassificationPage } from "../../scripts/classification-page.mjs";
import * as tables from "../../src/retry/index.js";

const text = readFileSync(new URL("../../docs/bootstrap-failures.md", import.meta.url), "utf8");

it("docs/bootstrap-failures.md is up to date (node scripts/classification-page.mjs)", () => {
  expect(text).toBe((renderClassificationPage as (from: typeof tables) => string)(tables));
});

it("names every row of every table", () => {
  const {
    networkCodes,
    localCodes,
    connectCodes,
    fileCodes,
    tlsCodes,
    tlsAlerts,
    grpcStatuses,
    httpStatuses,
  } = tables;
  for (const table of [
    networkCodes,
    localCodes,
    connectCodes,
    fileCodes,
    tlsCodes,
    tlsAlerts,
    grpcStatuses,
    httpStatuses,
  ])
    for (const code of Object.keys(table)) expect(text).toContain(`| \`${code}\` |`);
});
