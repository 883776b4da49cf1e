import { describe, expect, it } from "vitest";
import { before, entry, hostWith, pullRequest, text } from "../../../test/cli/reasons-host.js";
import { extendCatalog, sandboxReasons } from "../../conditions/index.js";
import { lockText } from "./load-catalog.js";

describe("slipway reasons, to a newcomer", () => {
  const catalogs = { "my catalog.json": text(before), lock: lockText(before) };

  it("prints its version", async () => {
    const { slipway } = hostWith({});
    for (const flag of ["--version", "-v"])
      expect(await slipway(flag)).toEqual({ code: 0, out: "1.2.3", err: "" });
    expect((await slipway("--help")).out).toContain("--version");
  });

  it.each<[string, string[], string]>([
    [
      "a missing lock",
      ["check", "--catalog", "my catalog.json"],
      "slipway reasons lock --catalog 'my catalog.json'",
    ],
    ["a missing lock elsewhere", ["check", "--lock", "a/b.json"], "slipway reasons lock --lock a/b.json"],
    [
      "an additive change",
      ["check", "--catalog", "grown.json", "--lock", "lock"],
      "slipway reasons lock --catalog grown.json --lock lock",
    ],
    [
      "a lock refused",
      ["lock", "--catalog", "broken.json", "--lock", "lock"],
      "slipway reasons lock --catalog broken.json --lock lock --force",
    ],
  ])("names the whole command that helps with %s", async (_name, args, hint) => {
    const { slipway } = hostWith({
      ...catalogs,
      "grown.json": text({ ...before, reasons: { ...before.reasons, Other: entry } }),
      "broken.json": text(pullRequest),
    });
    const { out, err } = await slipway("reasons", ...args);
    expect(`${out}${err}`.endsWith(hint)).toBe(true);
  });

  it.each<[string, string, string[]]>([
    ["gone.json", "", ["gone.json does not exist", "expected a catalog"]],
    ["empty.json", " ", ["empty.json is not JSON", "expected a catalog", "found nothing"]],
    ["torn.json", '{"name"', ["torn.json is not JSON", "expected a catalog", '{\\"name\\"']],
    ["list.json", "[]", ["list.json: Invalid catalog must be", "must be an object, got []", "got []"]],
    ["half.json", '{"name":"n"}', ["half.json: Invalid catalog: contract must be", "got undefined"]],
    [
      "zero.json",
      text({ ...before, contract: 0 }),
      ["zero.json: Invalid catalog: contract must be", "got 0"],
    ],
    [
      "extra.json",
      text({ ...before, extra: 1 }),
      ["extra.json: Invalid catalog: extra must be absent, got 1"],
    ],
    [
      "newer.json",
      text({ schemaVersion: 9, catalog: before }),
      ["newer.json was written by a newer slipway"],
    ],
  ])("says of %s which file, what was expected and what was found", async (file, content, parts) => {
    const { slipway } = hostWith(content === "" ? {} : { [file]: content });
    const { code, err } = await slipway("reasons", "list", "--catalog", file);
    expect(code).toBe(2);
    for (const part of parts) expect(err).toContain(part);
  });

  it("says the same of modules, standard input and lock files", async () => {
    const modules = { "none.mjs": { helper: 1 }, "bare.mjs": {} };
    const { slipway } = hostWith(
      { "-": "{", lock: '{"a":1}', "broken.mjs": "syntax error", "none.mjs": "x", "bare.mjs": "x" },
      modules,
    );
    const list = async (file: string) => (await slipway("reasons", "list", "--catalog", file)).err;
    expect(await list("none.mjs")).toContain("none.mjs exports no catalog: expected one");
    expect(await list("none.mjs")).toContain("found helper: 1");
    expect(await list("bare.mjs")).toContain("found no export");
    expect(await list("broken.mjs")).toContain("broken.mjs cannot be loaded: expected a catalog");
    expect(await list("-")).toContain("standard input is not JSON: expected a catalog");
    const { err } = await slipway("reasons", "check", "--lock", "lock");
    expect(err).toContain("lock is no lock file of this version: expected a lock file");
    expect(err).toContain('{"a":1}');
  });

  it("names the backends that a catalog knows when another one is asked about", async () => {
    const { slipway } = hostWith(catalogs);
    const unknown = await slipway("reasons", "describe", "OOMKilled", "--backend", "dokcer");
    expect(unknown).toMatchObject({ code: 2, out: "" });
    expect(unknown.err).toContain("docker");
    expect(unknown.err).toContain('found "dokcer"');
    const none = ["describe", "Timeout", "--backend", "docker", "--catalog", "my catalog.json"];
    expect((await slipway("reasons", ...none)).err).toContain("the catalog names none");
    expect((await slipway("reasons", "describe", "dead", "--backend", "docker")).out).toContain(
      "ContainerDead",
    );
  });

  it("does not call a reason of an extension new in a contract that is older than the catalog", async () => {
    const catalog = extendCatalog(sandboxReasons, { prefix: "Acme", reasons: { AcmeLicenseMissing: entry } });
    const { slipway } = hostWith({ lock: lockText(sandboxReasons) }, { "c.mjs": { default: catalog } });
    const { out } = await slipway("reasons", "check", "--catalog", "c.mjs", "--lock", "lock");
    expect(out).toContain("AcmeLicenseMissing is new, for readers of every contract.");
  });
});
