import type { TextRange } from "./hidden-ranges.js";

/** What is expected of a policy, as its errors say it. */
const EXPECTED = [
  "1",
  '"host:port"',
  "object",
  "array",
  "string",
  "record",
  "a array <=256 items",
  "a string <=4096 characters",
  "Invalid key in record",
  "without a NUL",
  "at most 100000 bytes",
  String.raw`absent \((?:no such field|reserved for the supervisor)\)`,
].join("|");

const FIELD = String.raw`policy(?:\.version|\.network(?:\.allow(?:\[\d{1,3}\])?)?|\.env)?`;

/**
 * What the gateway and its supervisors say in words of their own, which are the same whatever a sandbox's secrets are:
 * the rule that a policy does not keep, up to the value that was found, and the numbers that a view has as fields. A value
 * that happens to be one of these words is not told by them, and a message without its rule helps nobody.
 */
const OWN_WORDS = new RegExp(
  String.raw`(?:\b${FIELD})? must be (?:${EXPECTED}), got |\bconfiguration generation \d{1,9}\b|\bthe main process ended with exit code \d{1,3}\b`,
  "g",
);

/** From where to where these words stand in a text. */
export function ownWordsIn(text: string): readonly TextRange[] {
  return [...text.matchAll(OWN_WORDS)].map(({ index, 0: words }) => [index, index + words.length]);
}
