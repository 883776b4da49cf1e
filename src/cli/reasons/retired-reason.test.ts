import { describe, expect, it } from "vitest";
import { before, entry, finding, hostWith, text } from "../../../test/cli/reasons-host.js";
import type { ReasonCatalog } from "../../conditions/index.js";
import { lockText } from "./load-catalog.js";

describe("slipway reasons, on a retired reason", () => {
  const sources = [{ backend: "docker", raw: ["dead"] }];
  const old: ReasonCatalog = { ...before, reasons: { ...before.reasons, Timeout: { ...entry, sources } } };
  const retired: ReasonCatalog = {
    ...old,
    contract: 2,
    reasons: { Mismatch: entry, Expired: { ...entry, since: 2, sources } },
    retired: { Timeout: { retiredIn: 2, class: "terminal", replacedBy: "Expired" } },
    emits: [...old.emits, { ...finding, reason: "Expired", generalReasons: ["Timeout"], since: 2 }].filter(
      ({ reason }) => reason !== "Timeout",
    ),
  };

  it("lets it go as documented, raw words included, under --strict", async () => {
    const { slipway } = hostWith({ lock: lockText(old), "catalog.json": text(retired) });
    const { code, out } = await slipway(
      ...["reasons", "check", "--strict", "--catalog", "catalog.json", "--lock", "lock"],
    );
    expect(out).not.toContain("breaking:");
    expect(out).toContain("additive: dead is now reported as Expired, which replaces the retired Timeout");
    expect(code).toBe(0);
  });

  it.each<[string, ReasonCatalog]>([
    [
      "the old name is not stated for older readers",
      { ...retired, emits: [{ ...finding, reason: "Expired", since: 2 }] },
    ],
    ["its words are dropped", { ...retired, reasons: { Mismatch: entry, Expired: { ...entry, since: 2 } } }],
    [
      "its words go to another reason",
      { ...retired, reasons: { Mismatch: { ...entry, sources }, Expired: { ...entry, since: 2 } } },
    ],
    [
      "older readers know the reason that replaces it",
      { ...retired, reasons: { Mismatch: entry, Expired: { ...entry, sources } } },
    ],
    ["it is retired in a contract that has readers", { ...retired, contract: 1, retired: {} }],
  ])("does not where %s", async (_name, catalog) => {
    const { slipway } = hostWith({ lock: lockText(old), "catalog.json": text(catalog) });
    const { code } = await slipway(
      ...["reasons", "check", "--strict", "--catalog", "catalog.json", "--lock", "lock"],
    );
    expect(code).not.toBe(0);
  });

  it("lists it for the contracts that know it, and no contract that the catalog does not have", async () => {
    const { slipway } = hostWith({ "catalog.json": text(retired) });
    const list = (...args: string[]) => slipway("reasons", "list", "--catalog", "catalog.json", ...args);
    expect((await list("--contract", "1")).out).toMatch(
      /Timeout +terminal +Retired in contract 2 for Expired\./,
    );
    expect((await list("--contract", "1")).out).not.toContain("Expired  ");
    expect((await list("--contract", "2")).out).not.toContain("Timeout");
    const listed: { reasons: object; retired: object } = JSON.parse(
      (await list("--contract", "1", "--json")).out,
    );
    expect(Object.keys({ ...listed.reasons, ...listed.retired }).sort()).toEqual(["Mismatch", "Timeout"]);
    expect((await list("--contract", "1", "--class", "waiting")).out).not.toContain("Timeout");
    for (const wrong of ["3", "99", "0", "-1", "1.0", "x", ""]) {
      const { code, err } = await list(`--contract=${wrong}`);
      expect(code).toBe(2);
      expect(err).toMatch(/--contract/);
      expect(err).toContain(wrong);
    }
  });

  it("describes it with the class that it had, and what to use instead", async () => {
    const { slipway } = hostWith({ "catalog.json": text(retired) });
    const { code, out } = await slipway("reasons", "describe", "Timeout", "--catalog", "catalog.json");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "Timeout (retired: Expired)",
      "  Retired in contract 2.",
      "  class:   terminal, for readers that still know it",
      `  instead: Expired: ${entry.summary}`,
    ]);
  });
});
