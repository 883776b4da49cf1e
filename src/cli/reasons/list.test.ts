import { describe, expect, it } from "vitest";
import { entry, hostWith } from "../../../test/cli/reasons-host.js";
import { extendCatalog, sandboxReasons } from "../../conditions/index.js";

describe("slipway reasons list and describe", () => {
  it("lists a user's catalog by condition type", async () => {
    const catalog = extendCatalog(sandboxReasons, { prefix: "Acme", reasons: { AcmeLicenseMissing: entry } });
    const { slipway } = hostWith({}, { "c.mjs": { default: catalog } });
    const { out } = await slipway(
      "reasons",
      "list",
      "--catalog",
      "c.mjs",
      "--class",
      "terminal",
      "--type",
      "Ready",
    );
    expect(out).toMatch(/^sandbox, contract 2\n\nReady\n/);
    expect(out).toContain("AcmeLicenseMissing");
    expect(out).not.toContain("Starting ");
    const old: { reasons: object } = JSON.parse(
      (await slipway("reasons", "list", "--contract", "1", "--json")).out,
    );
    expect(Object.keys(old.reasons)).not.toContain("IsolationBackendMismatch");
    expect((await slipway("reasons", "list", "--contract", "x")).code).toBe(2);
    expect((await slipway("reasons", "list", "--class", "fatal")).code).toBe(2);
  });

  it("describes a reason, a backend's word and an unknown one", async () => {
    const { slipway } = hostWith({});
    expect(await slipway("reasons", "describe", "OOMKilled")).toMatchObject({
      code: 0,
      out: expect.stringContaining("OutOfMemory"),
    });
    const { code, out } = await slipway(
      "reasons",
      "describe",
      "MainProcessExited",
      "FromTheFuture",
      "--json",
    );
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([
      { found: "reason", entry: { replacedBy: "MainProcessFailed" } },
      { found: "unknown" },
    ]);
    expect((await slipway("reasons", "describe")).code).toBe(2);
  });
});
