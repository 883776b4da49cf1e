import type { SupervisorReport } from "../decide/supervisor-report.js";
import type { SandboxRecord } from "../record/record.js";

/** What stands in the place of something that is nobody's business. */
export const HIDDEN = "[hidden]";

const PREFIX = "slipway-attempt-";
/** The token of any attempt, in any text: it is known by its form, as long as nobody asks whose it is. */
const ATTEMPT_TOKEN = /slipway-attempt-[A-Za-z0-9_-]+/g;

/** A value of fewer characters is a word or a number like any other: hiding each of its like would hide what is said. */
const SHORTEST = 6;

/** A fresh token of an attempt, of a form that is found again wherever it should not be. */
export function attemptToken(newId: () => string): string {
  return PREFIX + newId();
}

/** The text with nothing in it that looks like the token of an attempt, and none of these secrets. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce(
    (found, secret) => (secret.length < SHORTEST ? found : found.replaceAll(secret, HIDDEN)),
    text,
  );
  return known.replaceAll(ATTEMPT_TOKEN, HIDDEN);
}

/** What a sandbox knows and nobody is told: its attempt's token, and the environment of its main process. */
export function secretsOf({ deadline, configuration }: SandboxRecord): readonly string[] {
  const { env } = configuration.policy;
  const values = typeof env === "object" && env !== null ? textsIn(env) : [];
  const all = deadline === null ? values : [deadline.attempt, ...values];
  // A longer one first: it may contain a shorter one.
  return all.sort((a, b) => b.length - a.length);
}

/** A report as it may be written down: its texts may quote what a program was given or printed. */
export function discreetReport(report: SupervisorReport, secrets: readonly string[]): SupervisorReport {
  if (!("message" in report)) return report;
  const message = withoutSecrets(report.message, secrets);
  if (!("cause" in report) || report.cause === undefined) return { ...report, message };
  return {
    ...report,
    message,
    cause: { ...report.cause, message: withoutSecrets(report.cause.message, secrets) },
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
