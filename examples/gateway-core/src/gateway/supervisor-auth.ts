import { createHash, timingSafeEqual } from "node:crypto";
import type { SandboxRecord } from "../record/record.js";

/** Compares two secrets in a time that says nothing about where they differ, or how long they are. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

export type AuthResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "unauthorized" | "stale-run" };

/**
 * Whether a caller is the supervisor of the record's current attempt and run. An unknown sandbox, a wrong token and
 * the token of an earlier attempt all get one answer.
 */
export function authenticateSupervisor(record: SandboxRecord | null, token: string, run: number): AuthResult {
  const expected = record?.deadline?.attempt ?? null;
  // Compared in any case, so that the time it takes does not tell whether there is such a sandbox.
  const matches = sameSecret(token, expected ?? "no such attempt");
  if (record === null || expected === null || !matches) return { ok: false, code: "unauthorized" };
  return run === record.run ? { ok: true } : { ok: false, code: "stale-run" };
}
