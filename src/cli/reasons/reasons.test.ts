import { describe, expect, it } from "vitest";
import { before, entry, finding, hostWith, pullRequest, text } from "../../../test/cli/reasons-host.js";
import { lockText } from "./load-catalog.js";

describe("slipway", () => {
  it("explains itself, and refuses what it does not know", async () => {
    const { slipway } = hostWith({});
    expect(await slipway("--help")).toMatchObject({ code: 0, out: expect.stringContaining("reasons") });
    expect(await slipway()).toMatchObject({ code: 2 });
    expect(await slipway("reasons", "--help")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Exit codes"),
    });
    expect(await slipway("raisins")).toMatchObject({ code: 2, err: expect.stringContaining('"raisins"') });
    expect(await slipway("reasons")).toMatchObject({
      code: 2,
      err: expect.stringContaining("list, describe, lock or check"),
    });
    expect(await slipway("reasons", "list", "--colour")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--colour"),
    });
  });
});

describe("slipway reasons, called oddly", () => {
  it.each([
    ["list", "--forse", "--catalog, --json, --type, --class or --contract"],
    ["lock", "--forse", "--catalog, --json, --lock or --force"],
    ["check", "--force", "--catalog, --json, --lock, --frozen or --strict"],
    ["describe", "-x", "--catalog, --json or --backend"],
  ])("names the options that %s has when it is given %s", async (command, option, known) => {
    const { slipway } = hostWith({});
    expect(await slipway("reasons", command, option)).toEqual({
      code: 2,
      out: "",
      err: `slipway reasons: expected ${known}, found ${option}`,
    });
  });

  it.each([
    [["list", "--catalog"], "expected a file after --catalog, found nothing"],
    [["lock", "--lock", "--force"], "expected a file after --lock, found --force"],
    [["check", "--json=yes"], 'expected no value after --json, found "yes"'],
    [["check", "catalog.json"], 'expected no word after check, found "catalog.json"'],
    [["describe"], "expected one or more reasons after describe, found nothing"],
    [["list", "--class", "final"], 'after --class, found "final"'],
    [["list", "--contract", "9"], "after --contract, found 9"],
  ])("says what it expected and what it found: %j", async (args, message) => {
    const { slipway } = hostWith({});
    const { code, err } = await slipway("reasons", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  it("repeats the word that is none of its own", async () => {
    const { slipway } = hostWith({});
    const { code, err } = await slipway("reasons", "chek");
    expect([code, err.split("\n")[0]]).toEqual([
      2,
      'slipway reasons: expected list, describe, lock or check, found "chek"',
    ]);
    expect((await slipway("reasons")).err).toContain("or check, found nothing");
  });

  it.each([
    ["--catalog", ["check", "--catalog", "catalog.json", "--catalog", "good.json"]],
    ["--lock", ["check", "--lock", "lock", "--catalog", "good.json", "--lock=lock"]],
    ["--type", ["list", "--type", "Ready", "--type", "Ready"]],
  ])("takes no second %s, whose first would pass unseen", async (option, args) => {
    const { slipway } = hostWith({
      lock: lockText(before),
      "catalog.json": text(pullRequest),
      "good.json": text(before),
    });
    expect(await slipway("reasons", ...args)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(`expected one ${option}, found another`),
    });
    expect((await slipway("reasons", "list", "--json", "--json")).code).toBe(0);
  });

  it("calls a module unusable whose exports throw, and the check not failed", async () => {
    const traps = {
      get contract(): number {
        throw new Error("not yet");
      },
      reasons: {},
    };
    const trap = new Proxy({}, { has: () => expect.unreachable("asked") });
    const files = { lock: lockText(before), "getter.mjs": "x", "proxy.mjs": "x", "function.mjs": "x" };
    const { slipway } = hostWith(files, {
      "getter.mjs": { default: traps },
      "proxy.mjs": { a: trap, default: before },
      "function.mjs": { default: { ...before, render: () => "" } },
    });
    for (const file of ["getter.mjs", "proxy.mjs", "function.mjs"]) {
      const { code, err } = await slipway("reasons", "check", "--catalog", file, "--lock", "lock");
      expect([file, code]).toEqual([file, 2]);
      expect(err).toContain(`${file} cannot be loaded`);
    }
  });

  it("names the field of a module's catalog that holds code, and shows none of it", async () => {
    const code = (): string => "s3cret";
    const catalogOf = (over: object) => ({ ...before, ...over });
    const modules: Record<string, object> = {
      "render.mjs": catalogOf({ render: code }),
      "reasons.Timeout.summary.mjs": catalogOf({ reasons: { Timeout: { ...entry, summary: code } } }),
      "emits[0].cause.mjs": catalogOf({
        emits: [{ ...finding, cause: Symbol("s3cret"), reason: "Timeout" }],
      }),
    };
    const { slipway } = hostWith(
      Object.fromEntries(Object.keys(modules).map((file) => [file, "x"])),
      Object.fromEntries(Object.entries(modules).map(([file, catalog]) => [file, { default: catalog }])),
    );
    for (const file of Object.keys(modules)) {
      const { err } = await slipway("reasons", "list", "--catalog", file);
      expect(err).toContain(`found: ${file.replace(/\.mjs$/, "")}, which is code and no data`);
      expect(err).not.toContain("s3cret");
    }
  });

  it("says of a TypeScript module that cannot be loaded what would load it", async () => {
    const { slipway } = hostWith({ "catalog.ts": "x" });
    const { code, err } = await slipway("reasons", "list", "--catalog", "catalog.ts");
    expect(code).toBe(2);
    expect(err).toContain("compile it first");
  });

  it("refuses a lock in JSON where JSON was asked for", async () => {
    const { slipway } = hostWith({ lock: lockText(before), "catalog.json": text(pullRequest) });
    const args = ["reasons", "lock", "--catalog", "catalog.json", "--lock", "lock", "--json"];
    const refused = await slipway(...args);
    expect(refused).toMatchObject({ code: 1, err: "" });
    expect(JSON.parse(refused.out)).toMatchObject({
      ok: false,
      lock: "lock",
      differences: [{ kind: "emission-reason", remedies: [expect.any(String), expect.any(String)] }],
    });
    expect(JSON.parse((await slipway(...args, "--force")).out)).toMatchObject({ ok: true, lock: "lock" });
  });
});

describe("slipway reasons, on files of others", () => {
  it("names the version of a lock that a newer slipway wrote, and says to upgrade", async () => {
    const { slipway, files } = hostWith({ lock: text({ schemaVersion: 7, catalog: before, signed: true }) });
    for (const command of ["check", "lock"]) {
      const { code, err } = await slipway("reasons", command, "--lock", "lock");
      expect(code).toBe(2);
      expect(err).toContain("schemaVersion 7");
      expect(err).toContain("upgrade slipway");
    }
    expect(files["lock"]).toContain("signed");
  });

  it("says that a lock cannot be written", async () => {
    const { slipway } = hostWith({});
    expect(await slipway("reasons", "lock", "--lock", "readonly")).toMatchObject({
      code: 2,
      err: expect.stringContaining("readonly cannot be written: permission denied"),
    });
  });

  it("reads a catalog from standard input, with a byte order mark or without", async () => {
    for (const mark of ["", "\uFEFF"]) {
      const { slipway } = hostWith({ "-": `${mark}${text(before)}`, lock: `${mark}${lockText(before)}` });
      const args = ["reasons", "check", "--frozen", "--catalog", "-", "--lock", "lock"];
      expect((await slipway(...args)).code).toBe(0);
    }
  });
});
