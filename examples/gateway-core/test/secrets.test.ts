import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attemptToken, HIDDEN, masked, withoutSecrets } from "../src/gateway/secrets.js";
import { InvalidInputError } from "../src/input-error.js";
import { parsePolicy } from "../src/policy/policy.js";
import { CorruptRecordError, decodeRecord } from "../src/record/record-schema.js";
import { recordWith } from "./records.js";
import { long } from "./secret-texts.js";

function thrownBy(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("hiding", () => {
  it("takes a secret out wherever it is, also one that contains another", () => {
    fc.assert(
      fc.property(long, fc.string(), fc.string(), (hidden, before, after) => {
        const found = withoutSecrets(`${before}${hidden}${after}${hidden}`, [hidden]);
        expect(found.replaceAll(HIDDEN, "")).not.toContain(hidden);
      }),
      { seed: 5 },
    );
    expect(withoutSecrets("key=abcdefgh-more", ["abcdefgh-more", "abcdefgh"])).toBe(`key=${HIDDEN}`);
  });

  it("knows the token of an attempt by its form", () => {
    const token = attemptToken(() => "0b3c-id");
    expect(withoutSecrets(`Bearer ${token}, and on`, [])).toBe(`Bearer ${HIDDEN}, and on`);
  });

  it("takes a short secret out as well, and leaves the words that contain it", () => {
    expect(withoutSecrets("a hello to all, and to Othello", ["hello"])).toBe(
      `a ${HIDDEN} to all, and to Othello`,
    );
    expect(withoutSecrets("PIN=7, u:7@db, -p 7, 77, 7_7, é7", ["7"])).toBe(
      `PIN=${HIDDEN}, u:${HIDDEN}@db, -p ${HIDDEN}, 77, 7_7, é7`,
    );
    const around = fc.constantFrom("", " ", "=", ":", "@", "/", '"', "'", ",", ".", "-", "$", "[", "\n");
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 5 }), around, around, (hidden, before, after) => {
        const found = withoutSecrets(`said${before}${before}${hidden}${after}${after}so`, [hidden]);
        const begins = /^[\p{L}\p{N}_]/u.test(hidden) && before === "";
        const goesOn = /[\p{L}\p{N}_]$/u.test(hidden) && after === "";
        if (!begins && !goesOn && hidden.trim() !== "") expect(found).toContain(HIDDEN);
      }),
      { seed: 6, numRuns: 1000 },
    );
  });

  it("hides nothing twice, whatever the secrets are", () => {
    const secrets = ["hidden", "[", "]", "h", "abcdefgh"];
    expect(withoutSecrets("abcdefgh [ h hidden", secrets)).toBe(`${HIDDEN} ${HIDDEN} ${HIDDEN} ${HIDDEN}`);
    expect(withoutSecrets("a text of its own", [""])).toBe("a text of its own");
  });

  it("knows a secret in the ways in which programs write it down", () => {
    const key = 'p"ss/wörd é=&';
    for (const text of [
      JSON.stringify({ key }),
      encodeURIComponent(key),
      Buffer.from(key).toString("base64"),
    ])
      expect(withoutSecrets(`it was ${text}`, [key])).toContain(HIDDEN);
    expect(withoutSecrets("half \ud800 of it", ["\ud800"])).toBe(`half ${HIDDEN} of it`);
  });

  it("knows a secret in either alphabet of base64, in a form, and with escapes in either case", () => {
    const key = "p>>?s/wö rd~'é=&";
    const each = encodeURIComponent(key);
    const forms = [
      Buffer.from(key).toString("base64url"),
      Buffer.from(key).toString("base64").replaceAll("=", ""),
      new URLSearchParams({ key }).toString().slice("key=".length),
      each.replaceAll("%20", "+"),
      encodeURI(key),
      each.replaceAll("%2F", "/"),
    ];
    const lower = forms.slice(2).map((form) => form.replaceAll(/%../g, (escape) => escape.toLowerCase()));
    for (const form of [...forms, ...lower])
      expect(withoutSecrets(`it was ${form}, so`, [key])).toBe(`it was ${HIDDEN}, so`);
  });

  it("knows a value that a program has trimmed, in each spelling", () => {
    for (const [value, text] of [
      ["sk-12345678\n", "sk-12345678"],
      ["  sk-12345678\r\n", "sk-12345678"],
      ["pin7\n", "pin7"],
    ] as const)
      for (const form of [text, Buffer.from(text).toString("base64")])
        expect(withoutSecrets(`no: ${form}.`, [value])).toBe(`no: ${HIDDEN}.`);
  });

  it("knows a line of a value that has several, and leaves what is too short to be told by", () => {
    const value = "-----BEGIN KEY-----\r\n  MIIEvQIBADANBg\nab\n-----END KEY-----\n";
    expect(withoutSecrets("bad line 2: MIIEvQIBADANBg", [value])).toBe(`bad line 2: ${HIDDEN}`);
    expect(withoutSecrets("no ab in -----END KEY-----", [value])).toBe(`no ab in ${HIDDEN}`);
    expect(withoutSecrets(`all of ${value}!`, [value])).toBe(`all of ${HIDDEN}!`);
  });

  it("keeps the shape of a value, and nothing else of it", () => {
    expect(masked({ a: ["x", 7, true, null], b: {} })).toEqual({ a: [HIDDEN, HIDDEN, true, null], b: {} });
  });

  it("is at the source where a policy is judged: a diagnostic becomes a condition", () => {
    for (const policy of [
      { version: 1, env: { KEY: 123_456_789 } },
      { version: 1, env: { KEY: "sk-123456789\0" } },
      { version: 1, envs: { KEY: "sk-123456789" } },
      { version: 1, env: "sk-123456789" },
    ]) {
      let found: unknown;
      try {
        parsePolicy(policy);
      } catch (error) {
        found = error;
      }
      expect(found).toBeInstanceOf(InvalidInputError);
      expect((found as Error).message).toMatch(/^policy\.env/);
      expect((found as Error).message).not.toContain("123456789");
    }
    expect(() => parsePolicy({ version: 2 })).toThrow(/got 2/);
  });

  it("leaves the gateway's own words whole: which rule a policy does not keep, whatever its variables are set to", () => {
    const large = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`K${at}`, "x".repeat(4000)]));
    const policies: readonly unknown[] = [
      null,
      {},
      { version: 2 },
      { version: 1, network: 5 },
      { version: 1, network: {} },
      { version: 1, network: { allow: ["x"] } },
      { version: 1, network: { allow: [7] } },
      { version: 1, network: { allow: Array(300).fill("a:1") } },
      { version: 1, network: { allow: [], deny: 1 } },
      { version: 1, env: 5 },
      { version: 1, env: { A: 5 } },
      { version: 1, env: { A: "x".repeat(5000) } },
      { version: 1, env: { "1A": "x" } },
      { version: 1, env: { A: "\0" } },
      { version: 1, env: { SLIPWAY_X: "1" } },
      { version: 1, env: large },
      { version: 1, more: 1 },
    ];
    for (const policy of policies) {
      const { message } = thrownBy(() => parsePolicy(policy));
      const rule = / must be .*?, got /.exec(message)?.[0] ?? "no rule";
      // Each of its words, and each two: by chance, the values of variables are these.
      const words = rule.trim().split(" ");
      const secrets = [...words, ...words.map((word, at) => `${word} ${words[at + 1] ?? ""}`), "got"];
      const said = `configuration generation 1 was rejected: ${message}`;
      expect(withoutSecrets(said, [...secrets, "1"])).toContain(rule);
      expect(withoutSecrets(said, ["1", "configuration"])).toContain("configuration generation 1 was");
    }
    expect(withoutSecrets("policy.version must be 1, got nothing", ["1", "policy", "version"])).toBe(
      "policy.version must be 1, got nothing",
    );
    expect(withoutSecrets("the main process ended with exit code 7", ["7"])).toBe(
      "the main process ended with exit code 7",
    );
  });

  it("takes a secret out of what the gateway's own words are about, and of words that only begin like them", () => {
    for (const [text, found] of [
      ["policy.version must be 1, got 1", `policy.version must be 1, got ${HIDDEN}`],
      [
        'policy.network.allow[1] must be "host:port", got "1"',
        `policy.network.allow[1] must be "host:port", got "${HIDDEN}"`,
      ],
      ["policy.version must be 1 or so", `policy.version must be ${HIDDEN} or so`],
      ["the password must be 1, got 1", `the password must be 1, got ${HIDDEN}`],
      ["exit code 1", `exit code ${HIDDEN}`],
    ] as const)
      expect(withoutSecrets(text, ["1"])).toBe(found);
    // One that begins in them and goes on is a quotation.
    expect(withoutSecrets("policy.version must be 1, got a-key", ["got a-key"])).toBe(
      `policy.version must be 1, ${HIDDEN}`,
    );
  });

  it("leaves field and expectation in the error of a corrupt record", () => {
    const stored = JSON.parse(JSON.stringify(recordWith())) as object;
    expect(() => decodeRecord("sb", { ...stored, run: "sk-12345678" })).toThrow(CorruptRecordError);
    expect(() => decodeRecord("sb", { ...stored, run: "sk-12345678" })).toThrow(
      /: record\.run must be [^"]*$/,
    );
  });
});
