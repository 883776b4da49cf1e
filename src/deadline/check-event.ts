import { invalid } from "../errors.js";
import type { DeadlineEvent } from "./event.js";
import { LAST_INSTANT, MAX_NAME_LENGTH } from "./limits.js";

/**
 * Refuses an event that is a mistake rather than news. A refusal by the rules of the deadline is an outcome instead.
 *
 * @throws {@link SlipwayError} `INVALID_EVENT` naming the field and the value.
 *
 * @internal
 */
export function checkEvent(event: DeadlineEvent): void {
  if (typeof event !== "object" || (event as unknown) === null) throw wrong("event", "", "an object", event);
  switch (event.type) {
    case "tick":
      return;
    case "progress":
      name(event.type, "attempt", event.attempt);
      name(event.type, "phase", event.phase);
      optionalName(event.type, "step", event.step);
      optionalName(event.type, "part", event.part);
      optionalCount(event.type, "run", event.run);
      return;
    case "enter":
      name(event.type, "attempt", event.attempt);
      name(event.type, "phase", event.phase);
      return;
    case "change":
      name(event.type, "attempt", event.attempt);
      count(event.type, "generation", event.generation);
      optionalName(event.type, "digest", event.digest);
      if (isGiven(event.committedAt) && !isInstant(event.committedAt)) {
        throw wrong(event.type, "committedAt", "a safe integer of epoch milliseconds", event.committedAt);
      }
      return;
    case "reject":
      name(event.type, "attempt", event.attempt);
      count(event.type, "generation", event.generation);
      optionalName(event.type, "digest", event.digest);
      optionalText(event.type, "reason", event.reason);
      optionalText(event.type, "message", event.message);
      return;
    case "pause":
    case "resume":
      name(event.type, "attempt", event.attempt);
      count(event.type, "seq", event.seq);
      return;
    case "complete":
      name(event.type, "attempt", event.attempt);
      return;
    case "cancel":
      name(event.type, "attempt", event.attempt);
      text(event.type, "reason", event.reason);
      return;
    case "claim-cleanup":
      name(event.type, "attempt", event.attempt);
      name(event.type, "owner", event.owner);
      return;
    case "cleanup-done":
      name(event.type, "attempt", event.attempt);
      count(event.type, "claim", event.claim);
      if (typeof event.ok !== "boolean") throw wrong(event.type, "ok", "a boolean", event.ok);
      optionalText(event.type, "error", event.error);
      return;
    case "waive-cleanup":
      name(event.type, "attempt", event.attempt);
      name(event.type, "by", event.by);
      text(event.type, "reason", event.reason);
      return;
    default:
      throw wrong("event", "type", "a known event type", (event as { type?: unknown }).type);
  }
}

function wrong(type: string, field: string, expected: string, value: unknown): Error {
  return invalid("INVALID_EVENT", type === "event" ? "event" : `event ${type}`, field, expected, value);
}

function isInstant(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) < LAST_INSTANT;
}

/** JSON of other languages writes `null` for what is absent. @internal */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @internal */
export function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_LENGTH;
}

function name(type: string, field: string, value: unknown): void {
  if (!isName(value)) {
    throw wrong(type, field, `a string of 1 to ${MAX_NAME_LENGTH} characters`, value);
  }
}

function optionalName(type: string, field: string, value: unknown): void {
  if (isGiven(value)) name(type, field, value);
}

function text(type: string, field: string, value: unknown): void {
  if (typeof value !== "string") throw wrong(type, field, "a string", value);
}

function optionalText(type: string, field: string, value: unknown): void {
  if (isGiven(value)) text(type, field, value);
}

function count(type: string, field: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw wrong(type, field, "a safe integer, 0 or more", value);
  }
}

function optionalCount(type: string, field: string, value: unknown): void {
  if (isGiven(value)) count(type, field, value);
}
