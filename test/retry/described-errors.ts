import type { Classification } from "../../src/retry/verdict.js";
import { classify } from "../../src/retry/classify/index.js";

const now = Date.UTC(2027, 0, 15, 8);
export const look = (error: unknown): Classification => classify(error, { now });
export const coded = (code: string, message = "failed", more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more });
export const named = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });
const entries = (metadata: Record<string, unknown>): object => ({
  get: (key: string) => (metadata[key] === undefined ? [] : [metadata[key]]),
});
export const grpc = (code: number, details: string, metadata: Record<string, unknown> = {}): Error =>
  Object.assign(new Error(details), { code, details, metadata: entries(metadata) });
