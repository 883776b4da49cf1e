import { describe, expect, it } from "vitest";
import { HIDDEN, withoutSecrets } from "../src/gateway/secrets.js";

const ID = "0b3c1f5e-1234-4abc-8def-001122334455";

describe("no part of a secret is left", () => {
  it("where two of them overlap", () => {
    const secrets = ["abcdefgh", "efghijkl"];
    expect(withoutSecrets("key=abcdefghijkl.", secrets)).toBe(`key=${HIDDEN}.`);
    expect(withoutSecrets("key=abcdefghijkl.", [...secrets].reverse())).toBe(`key=${HIDDEN}.`);
    // A short one, which is hidden as a word, and a long one that begins with its end.
    expect(withoutSecrets("u:7-abcdef", ["7-", "-abcdef"])).toBe(`u:${HIDDEN}`);
  });

  it("where one overlaps itself", () => {
    expect(withoutSecrets("key=abcabcabcabc.", ["abcabcabc"])).toBe(`key=${HIDDEN}.`);
  });

  it("where it contains what stands for a hidden one", () => {
    expect(withoutSecrets(`key=pass${HIDDEN}word.`, [`pass${HIDDEN}word`])).toBe(`key=${HIDDEN}.`);
    expect(withoutSecrets(`key=p${HIDDEN}.`, [`p${HIDDEN}`])).toBe(`key=${HIDDEN}.`);
    expect(withoutSecrets(`p[hidden] and ${HIDDEN}`, ["p["])).toBe(`${HIDDEN} and ${HIDDEN}`);
  });

  it("where the token of another attempt has it in the middle", () => {
    for (const short of ["1234", "4abc", "slipway", "attempt", ID.slice(0, 13)])
      expect(withoutSecrets(`Bearer slipway-attempt-${ID}, and on`, [short])).toBe(
        `Bearer ${HIDDEN}, and on`,
      );
  });

  it("where it has half a character, which programs replace", () => {
    for (const secret of ["hunter2-\ud83d", "\ude00-hunter2"]) {
      const written = Buffer.from(secret).toString();
      expect(withoutSecrets(`key=${written}.`, [secret])).toBe(`key=${HIDDEN}.`);
      expect(withoutSecrets(`key=${encodeURIComponent(written)}.`, [secret])).toBe(`key=${HIDDEN}.`);
    }
    // Beside the other half it is a character, which stays whole or is gone.
    expect(withoutSecrets("key=hunter2-\ud83d\ude00.", ["hunter2-\ud83d"])).toBe(`key=${HIDDEN}.`);
  });

  it("beside another one that was hidden", () => {
    expect(withoutSecrets("abcdefgh7", ["abcdefgh", "7"])).toBe(`${HIDDEN}${HIDDEN}`);
    expect(withoutSecrets("7abcdefgh", ["abcdefgh", "7"])).toBe(`${HIDDEN}${HIDDEN}`);
  });
});

describe("what was hidden once", () => {
  it("stays as it is, whatever else is hidden", () => {
    const secrets = ["hidden", "[", "h", "abcdefgh", "word"];
    const once = withoutSecrets("a word: abcdefgh, h [", secrets);
    expect(once).toBe(`a ${HIDDEN}: ${HIDDEN}, ${HIDDEN} ${HIDDEN}`);
    expect(withoutSecrets(once, secrets)).toBe(once);
  });
});
