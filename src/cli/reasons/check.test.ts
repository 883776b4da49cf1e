import { describe, expect, it } from "vitest";
import { before, entry, hostWith, pullRequest, text } from "../../../test/cli/reasons-host.js";
import { sandboxReasons } from "../../conditions/index.js";
import { lockText } from "./load-catalog.js";

describe("slipway reasons check", () => {
  it("fails on the change of seed 003, names who breaks and says both ways out", async () => {
    const { slipway } = hostWith({
      "reasons.lock.json": lockText(before),
      "catalog.json": text(pullRequest),
    });
    const { code, out } = await slipway("reasons", "check", "--catalog", "catalog.json");
    expect(code).toBe(1);
    expect(out).toContain(
      'automation, CLI JSON consumers and SDK clients that match conditions[].reason == "Timeout"',
    );
    expect(out).toContain("way out: Additive exposure now");
    expect(out).toContain("way out: Change in a new contract");
  });

  it("says the same in JSON", async () => {
    const { slipway } = hostWith({ lock: lockText(before), "catalog.json": text(pullRequest) });
    const { code, out } = await slipway(
      "reasons",
      "check",
      "--catalog",
      "catalog.json",
      "--lock",
      "lock",
      "--json",
    );
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      name: "gateway",
      contract: { locked: 1, now: 1 },
      differences: [
        { level: "breaking", kind: "emission-reason", subject: "prepare/mismatch/Ready", contracts: [1] },
      ],
    });
  });

  it("lets a breaking change pass with a new contract, and not with --strict", async () => {
    const { slipway } = hostWith({
      lock: lockText(before),
      "catalog.json": text({ ...pullRequest, contract: 2 }),
    });
    const args = ["reasons", "check", "--catalog", "catalog.json", "--lock", "lock"];
    const { code, out } = await slipway(...args);
    expect(code).toBe(0);
    expect(out).toContain("announced by a new contract");
    expect((await slipway(...args, "--strict")).code).toBe(1);
  });

  it("does not let the contract of another catalog announce anything", async () => {
    const { slipway, files } = hostWith({
      lock: lockText(before),
      "catalog.json": text({ ...before, name: "another", contract: 2 }),
    });
    const args = ["--catalog", "catalog.json", "--lock", "lock"];
    expect(await slipway("reasons", "check", ...args)).toMatchObject({
      code: 1,
      out: expect.stringContaining("[catalog-name]"),
    });
    expect((await slipway("reasons", "lock", ...args)).code).toBe(1);
    expect(files["lock"]).toBe(lockText(before));
  });

  it.each<[string, string[]]>([
    ["my.json", ["check", "my.json"]],
    ["my.json", ["lock", "my.json"]],
    ["my.json", ["list", "my.json"]],
    ["--force", ["check", "--force"]],
    ["--type", ["check", "--type", "Ready"]],
    ["--strict", ["lock", "--strict"]],
    ["--frozen", ["list", "--frozen"]],
    ["--lock", ["describe", "Starting", "--lock", "x"]],
    ["--backend", ["list", "--backend=docker"]],
  ])("refuses %s where it means nothing: %j", async (word, args) => {
    const { slipway, files } = hostWith({ "reasons.lock.json": lockText(sandboxReasons), "my.json": "{}" });
    const held = { ...files };
    expect(await slipway("reasons", ...args)).toMatchObject({ code: 2, err: expect.stringContaining(word) });
    expect(files).toEqual(held);
  });

  it("passes an additive change, and not with --frozen", async () => {
    const grown = { ...before, reasons: { ...before.reasons, Other: entry } };
    const { slipway } = hostWith({ lock: lockText(before), "catalog.json": text(grown) });
    const args = ["reasons", "check", "--catalog", "catalog.json", "--lock", "lock"];
    expect(await slipway(...args)).toMatchObject({
      code: 0,
      out: expect.stringContaining("additive: Other is new"),
    });
    expect((await slipway(...args, "--frozen")).code).toBe(1);
  });

  it("is content with the same catalog, however it is exported", async () => {
    const modules = {
      "default.mjs": { default: before },
      "named.js": { catalog: before, other: 1 },
      "only.cjs": { default: { mine: before }, mine: before },
      "many.js": { a: before, b: pullRequest },
    };
    const { slipway } = hostWith({ lock: lockText(before), "catalog.json": lockText(before) }, modules);
    for (const file of ["default.mjs", "named.js", "only.cjs", "catalog.json"]) {
      const { code, out } = await slipway(
        "reasons",
        "check",
        "--frozen",
        "--catalog",
        file,
        "--lock",
        "lock",
      );
      expect([code, out]).toEqual([0, "lock is up to date."]);
    }
    expect(await slipway("reasons", "check", "--catalog", "many.js", "--lock", "lock")).toMatchObject({
      code: 2,
      err: expect.stringContaining("several catalogs"),
    });
  });

  it("says what is wrong with a file instead of passing", async () => {
    const files = {
      "reasons.lock.json": lockText(before),
      "torn.json": "{",
      "wrong.json": text({ ...before, contract: 0 }),
      "extra.json": text({ ...before, extra: 1 }),
      "circle.json": text({ ...before, reasons: { Timeout: { ...entry, refines: ["Timeout"] } } }),
      "secret.json": "unreadable",
      "old.json": text({ schemaVersion: 0, catalog: before }),
    };
    const { slipway } = hostWith(files);
    const check = (...args: string[]) => slipway("reasons", "check", ...args);
    expect(await check("--catalog", "torn.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("is not JSON"),
    });
    expect(await check("--catalog", "wrong.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("contract"),
    });
    expect(await check("--catalog", "extra.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("extra"),
    });
    expect(await check("--catalog", "circle.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("circles"),
    });
    expect(await check("--catalog", "secret.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("permission"),
    });
    expect(await check("--catalog", "gone.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("does not exist"),
    });
    expect(await check("--catalog", "gone.mjs")).toMatchObject({
      code: 2,
      err: expect.stringContaining("gone.mjs does not exist: expected a catalog"),
    });
    expect(await check("--lock", "gone")).toMatchObject({
      code: 2,
      err: expect.stringContaining("reasons lock"),
    });
    expect(await check("--lock", "old.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("no lock file"),
    });
  });
});
