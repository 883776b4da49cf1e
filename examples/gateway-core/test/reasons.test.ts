import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeReason } from "slipway/conditions";
import { describe, expect, it } from "vitest";
import { gatewayReasons } from "../src/record/reasons.js";

const src = join(import.meta.dirname, "../src");
const written = /(?:reason: |reason = |PermanentDriverError\(\s*)"([A-Za-z]+)"/g;

/** Every reason that the gateway's sources name. */
function reasons(): string[] {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const names = files.flatMap((name) =>
    [...readFileSync(join(src, name), "utf8").matchAll(written)].map(([, reason]) => reason ?? ""),
  );
  return [
    ...new Set([
      ...names,
      "LocalDriverFailed",
      "Preparation",
      "Admission",
      "ImagePreparationTimedOut",
      "ProvisioningTimedOut",
    ]),
  ];
}

describe("the reasons that the gateway publishes", () => {
  it.each(reasons().map((reason) => [reason]))("%s is one of the catalog", (reason) => {
    expect(describeReason(reason, { catalog: gatewayReasons })).toMatchObject({
      found: "reason",
      name: reason,
    });
  });
});
