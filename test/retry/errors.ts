import { classify } from "../../src/retry/classify/index.js";

export const coded = (code: string | number, more: object = {}): Error =>
  Object.assign(new Error(`failed with ${code}`), { code, ...more });
export const grpc = (code: number, details = "as told"): Error =>
  coded(code, { details, metadata: { get: () => [] } });
export const named = (name: string): Error => Object.assign(new Error("failed"), { name });
export const http = (status: number, headers: Record<string, string> = {}): object => ({ status, headers });
export const fetchFailed = (cause?: unknown): TypeError => new TypeError("fetch failed", { cause });
export const verdictOf = (error: unknown): string => classify(error).verdict;
