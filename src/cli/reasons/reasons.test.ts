import { describe, expect, it } from "vitest";
import { extendCatalog, type ReasonCatalog, sandboxReasons } from "../../conditions/index.js";
import type { CommandIo } from "../command.js";
import { run } from "../run.js";
import { lockText } from "./load-catalog.js";

/** A host with these files, and what was printed and written there. */
function hostWith(files: Record<string, string>, modules: Record<string, object> = {}) {
  const printed: string[] = [];
  const complained: string[] = [];
  const io: CommandIo = {
    read: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" });
      if (text === "unreadable") throw new Error("permission denied");
      return text;
    },
    write: (path, text) => {
      if (path === "readonly") throw new Error("permission denied");
      files[path] = text;
    },
    load: (path) => {
      const found = modules[path];
      return found ? Promise.resolve({ ...found }) : Promise.reject(new Error("no such module"));
    },
    print: (line) => printed.push(line),
    complain: (line) => complained.push(line),
    now: () => 0,
    version: () => "1.2.3",
  };
  const slipway = async (...args: string[]) => {
    const code = await run(args, io);
    return { code, out: printed.splice(0).join("\n"), err: complained.splice(0).join("\n") };
  };
  return { slipway, files };
}

const type = { polarity: "positive", presence: "always", summary: "Ready." } as const;
const entry = { types: ["Ready"], class: "terminal", summary: "A sentence." } as const;
const finding = { operation: "prepare", cause: "mismatch", type: "Ready" } as const;
const before: ReasonCatalog = {
  name: "gateway",
  contract: 1,
  types: { Ready: type },
  reasons: { Timeout: entry, Mismatch: entry },
  emits: [{ ...finding, reason: "Timeout" }],
};
const pullRequest: ReasonCatalog = { ...before, emits: [{ ...finding, reason: "Mismatch" }] };
const text = (value: unknown) => JSON.stringify(value);

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

describe("slipway reasons lock", () => {
  it("writes a lock that depends on the catalog only, and that check accepts", async () => {
    const { slipway, files } = hostWith({});
    expect(await slipway("reasons", "lock", "--json")).toMatchObject({
      code: 0,
      out: expect.stringContaining('"contract":2'),
    });
    expect(files["reasons.lock.json"]).toBe(lockText(sandboxReasons));
    expect((await slipway("reasons", "check", "--frozen", "--strict")).code).toBe(0);
  });

  it("does not record a breaking change without a new contract unless forced", async () => {
    const { slipway, files } = hostWith({ lock: lockText(before), "catalog.json": text(pullRequest) });
    const args = ["reasons", "lock", "--catalog", "catalog.json", "--lock", "lock"];
    expect(await slipway(...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining("was not written"),
    });
    expect(files["lock"]).toBe(lockText(before));
    expect((await slipway(...args, "--force")).code).toBe(0);
    expect(files["lock"]).toBe(lockText(pullRequest));
  });
});

describe("slipway reasons, called oddly", () => {
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
      err: expect.stringContaining(`takes one ${option}`),
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
    expect(unknown.err).toContain('got "dokcer"');
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
});

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
