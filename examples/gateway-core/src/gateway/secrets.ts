import type { SupervisorReport } from "../decide/supervisor-report.js";
import type { SandboxRecord } from "../record/record.js";
import { HiddenRanges, type TextRange } from "./hidden-ranges.js";
import { ownWordsIn } from "./own-words.js";

/** What stands in the place of something that is nobody's business. */
export const HIDDEN = "[hidden]";

const PREFIX = "slipway-attempt-";
/**
 * The token of any attempt, in any text: it is known by its form, as long as nobody asks whose it is. And what was hidden
 * before, which is no text of anybody's.
 */
const KNOWN = /slipway-attempt-[A-Za-z0-9_-]+|\[hidden\]/g;

/** A value of fewer characters is hidden where it stands as a word: inside of words each of its like would be hidden. */
const ANYWHERE = 6;

/** A fresh token of an attempt, of a form that is found again wherever it should not be. */
export function attemptToken(newId: () => string): string {
  return PREFIX + newId();
}

/**
 * The text with nothing in it that looks like the token of an attempt, and none of these secrets. What is a secret is
 * decided by where it comes from and not by what it looks like: a short one is hidden as well, wherever it is not a part
 * of a longer word, and so are the ways in which programs write a text down again. The gateway's own words stay.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const hidden = new HiddenRanges(text);
  for (const { index, 0: known } of text.matchAll(KNOWN)) hidden.add([index, index + known.length]);
  let own: readonly TextRange[] | undefined;
  for (const secret of spelledOut(secrets)) {
    for (const range of hidden.placesOf(secret, secret.length < ANYWHERE)) {
      // Only what lies within the gateway's own words altogether is no quotation.
      own ??= ownWordsIn(text);
      if (!own.some(([from, to]) => from <= range[0] && range[1] <= to)) hidden.add(range);
    }
  }
  return hidden.replacedBy(HIDDEN);
}

/** Of one list many texts are cleared. */
const known = new WeakMap<readonly string[], readonly string[]>();

/** Every spelling of each, a longer one first: beside what it hides a shorter one is a word. */
function spelledOut(secrets: readonly string[]): readonly string[] {
  const found = known.get(secrets);
  if (found !== undefined) return found;
  const spelled = secrets.flatMap(spellings).sort((a, b) => b.length - a.length);
  known.set(secrets, spelled);
  return spelled;
}

/** What a text may quote of a value: all of it, what programs make of one from a file, and a line of several. */
function quotable(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  // Half a character is none in what a program is given.
  const given = Buffer.from(value).toString();
  return [value, value.trim(), given, ...lines.filter((line) => line.length >= ANYWHERE)];
}

/** A value as it is, in a JSON text, in a URL or a form, and in base64, with what may be quoted of it. */
function spellings(value: string): readonly string[] {
  // Blanks are nobody's secret, and everywhere.
  if (value.trim() === "") return [];
  return [...new Set([...new Set(quotable(value))].flatMap(spellingsOf))];
}

function spellingsOf(value: string): readonly string[] {
  return [value, JSON.stringify(value).slice(1, -1), ...percentEncoded(value), ...base64(value)];
}

/** Programs differ in what they leave as it is, in what they make of a blank, and in the case of an escape. */
function percentEncoded(value: string): readonly string[] {
  // Half a character has no place in a URL.
  if (/\p{Surrogate}/u.test(value)) return [];
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const each = encodeURIComponent(value);
  const escaped = [each, encodeURI(value), each.replaceAll("%2F", "/"), each.replaceAll("%20", "+"), form];
  return escaped.flatMap((text) => [text, text.replaceAll(/%../g, (escape) => escape.toLowerCase())]);
}

/** In both alphabets, with and without what fills it up. */
function base64(value: string): readonly string[] {
  const plain = Buffer.from(value).toString("base64");
  if (plain.length < ANYWHERE) return [];
  const forUrl = plain.replaceAll("+", "-").replaceAll("/", "_");
  return [plain, forUrl].flatMap((text) => [text, text.replaceAll("=", "")]);
}

/** What a sandbox knows and nobody is told: its attempt's token, and the environment of its main process. */
export function secretsOf({ deadline, configuration }: SandboxRecord): readonly string[] {
  const values = environmentOf(configuration.policy);
  return deadline === null ? values : [deadline.attempt, ...values];
}

/** What the variables of a policy are set to, also of one that nobody would take. */
export function environmentOf(policy: unknown): readonly string[] {
  if (typeof policy !== "object" || policy === null || !("env" in policy)) return [];
  const { env } = policy;
  return typeof env === "object" && env !== null ? textsIn(env) : [];
}

/** A report as it may be written down: its texts may quote what a program was given or printed. */
export function discreetReport(report: SupervisorReport, secrets: readonly string[]): SupervisorReport {
  if (!("message" in report)) return report;
  const message = withoutSecrets(report.message, secrets);
  if (!("cause" in report) || report.cause === undefined) return { ...report, message };
  return {
    ...report,
    message,
    cause: {
      reason: withoutSecrets(report.cause.reason, secrets),
      message: withoutSecrets(report.cause.message, secrets),
    },
  };
}

/** The configuration as users may see it: which variables there are, and not what is in them. */
export function shownPolicy(policy: SandboxRecord["configuration"]["policy"]): typeof policy {
  return policy["env"] === undefined ? policy : { ...policy, env: masked(policy["env"]) as typeof policy };
}

/** The same shape with everything in it that can be read hidden. Bounded by the depth that a body may have. */
export function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, found]) => [name, masked(found)]));
  return typeof value === "string" || typeof value === "number" ? HIDDEN : value;
}

function textsIn(value: object): string[] {
  return Object.values(value).flatMap((found: unknown) => {
    if (typeof found === "string") return [found];
    if (typeof found === "number") return [String(found)];
    return typeof found === "object" && found !== null ? textsIn(found) : [];
  });
}
