import { wholeHint } from "../hints.js";
import { isMarked } from "../marks.js";
import { suspectEntry as suspect } from "./entry.js";
import { strong, weak, type Finding } from "./finding.js";
import { findGrpcStatus } from "./grpc-adapter.js";
import { afterHandshake } from "./handshake.js";
import { findHttpStatus } from "./http-adapter.js";
import { read, readMembers, readText } from "./inspect.js";
import { findName } from "./name-adapter.js";
import { findNodeCode } from "./node-adapter.js";

/** Links of a chain of causes that are looked at, the error itself included. */
const DEPTH = 10;
/** Errors that are looked at in all, for aggregates of aggregates. */
const MOST_ERRORS = 64;

const unknownError = suspect("unknown", "No rule knows this failure: it may pass, or not");
const notLookedAt = strong(
  "AggregateError",
  suspect("unknown", "There are more failures than are looked at: one of the others may pass"),
);
const notAnError = suspect("unknown", "Something other than an error was thrown: it tells nothing");

/** One look at an error and everything behind it. Safe against circles, depth and width. */
export class Walk {
  readonly #now: number | undefined;
  readonly #seen = new Set<unknown>();
  /** What each error tells by itself: one that several others share is looked at once. */
  readonly #found = new Map<unknown, Finding | undefined>();
  /** The error at hand and those that led to it: meeting one of them again is a circle. */
  readonly #path = new Set<unknown>();

  constructor(now: number | undefined) {
    this.#now = now;
  }

  find(error: unknown): Finding {
    const chain = this.#chainOf(error);
    if (chain.length === 0 && isObject(error)) return notLookedAt;
    const mark = chain.findIndex(isMarked);
    if (mark < 0) return this.#findUnmarked(chain) ?? unknown(error);
    const wrapped = chain.slice(mark + 1).filter((link) => !isMarked(link));
    return marked(chain[mark], this.#findUnmarked(wrapped) ?? unknown(read(chain[mark], "cause")));
  }

  #findUnmarked(chain: readonly unknown[]): Finding | undefined {
    const findings = chain.map((link) => this.#findOnce(link)).filter((finding) => finding !== undefined);
    for (const link of chain) this.#path.delete(link);
    const finding = mostSpecific(findings);
    return withHints(finding && afterHandshake(finding, chain, this.#now), findings);
  }

  #chainOf(error: unknown): unknown[] {
    const chain: unknown[] = [];
    for (let link = error; isObject(link) && chain.length < DEPTH; link = behind(link)) {
      if (this.#path.has(link) || chain.includes(link)) break;
      if (this.#seen.size >= MOST_ERRORS && !this.#seen.has(link)) break;
      this.#seen.add(link);
      chain.push(link);
    }
    return chain;
  }

  #findOnce(error: unknown): Finding | undefined {
    this.#path.add(error);
    if (!this.#found.has(error)) this.#found.set(error, this.#findOne(error));
    return this.#found.get(error);
  }

  #findOne(error: unknown): Finding | undefined {
    const combined = this.#findMembers(error);
    if (combined?.weak === false) return combined;
    return (
      findGrpcStatus(error, this.#now) ??
      findHttpStatus(error, this.#now) ??
      findNodeCode(error) ??
      combined ??
      findName(error)
    );
  }

  #findMembers(error: unknown): Finding | undefined {
    const members = readMembers(error);
    const fresh = [...new Set(members?.list)].filter((member) => !this.#path.has(member));
    if (fresh.length === 0) return undefined;
    const findings = fresh.map((member) => this.find(member));
    return combine(members?.isCut === true ? [...findings, notLookedAt] : findings);
  }
}

/** A mark holds over what it wraps; code, kind and hints are still those of the wrapped error. */
function marked(mark: unknown, wrapped: Finding): Finding {
  const verdict = read(mark, "~slipway/verdict") === "permanent" ? "permanent" : "transient";
  return {
    verdict,
    kind: wrapped.kind,
    explanation: readText(mark, "explanation") ?? `The operation says that this is ${verdict}`,
    code: readText(mark, "code") ?? wrapped.code,
    weak: false,
    retryAfterMs: wholeHint(read(mark, "retryAfterMs")) ?? wrapped.retryAfterMs,
    pushbackMs: wrapped.pushbackMs,
  };
}

/**
 * Of the findings of one chain, outermost first: what no wait heals outranks the rest, and of equals the innermost
 * is nearest to the cause. A name decides only where no code speaks.
 */
function mostSpecific(findings: readonly Finding[]): Finding | undefined {
  const strong = findings.filter((finding) => !finding.weak);
  return strong.findLast((finding) => finding.verdict === "permanent") ?? strong.at(-1) ?? findings[0];
}

/** A hint holds for the whole chain, whichever link carries it; it never softens what is permanent. */
function withHints(finding: Finding | undefined, findings: readonly Finding[]): Finding | undefined {
  if (finding === undefined || finding.verdict === "permanent") return finding;
  const retryAfterMs = findings.find((each) => each.retryAfterMs !== undefined)?.retryAfterMs;
  const pushbackMs = findings.find((each) => each.pushbackMs !== undefined)?.pushbackMs;
  return retryAfterMs === undefined && pushbackMs === undefined
    ? finding
    : { ...finding, retryAfterMs, pushbackMs };
}

/** Several addresses of one name: it is enough that one of them may come to work. */
function combine(members: readonly Finding[]): Finding {
  const decisive =
    members.find((member) => member.verdict === "transient") ??
    members.find((member) => member.verdict === "suspect") ??
    members.findLast((member) => !member.weak) ??
    members[0];
  if (decisive === undefined) return weak("AggregateError", unknownError);
  const codes = [...new Set(members.map((member) => member.code))];
  if (codes.length < 2) return decisive;
  return { ...decisive, explanation: `${decisive.explanation} (each of: ${codes.join(", ")})` };
}

function unknown(error: unknown): Finding {
  if (!isObject(error)) return weak("NON_ERROR", notAnError);
  return weak(readText(error, "code") ?? readText(error, "name") ?? "UNKNOWN_ERROR", unknownError);
}

/** What made an error happen. A failure while a resource is disposed of hides the one before it. */
function behind(error: unknown): unknown {
  const suppressed = readText(error, "name") === "SuppressedError" ? read(error, "suppressed") : undefined;
  return read(error, "cause") ?? suppressed;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
