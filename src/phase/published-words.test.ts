import { expect, it } from "vitest";
import { sanitizeReason } from "../conditions/index.js";
import { isInfrastructureError, isRecoverable, published } from "./reasons.js";

const driver = (backendReason: string) => ({ failureReason: null, backendReason });
const observer = (failureReason: string) => ({ failureReason, backendReason: null });

it("an end that a driver names is told where nothing is waited for, and is a cause where something is", () => {
  expect(published(driver("Evicted"), "Stopping", "Stopping")).toEqual({ reason: "Evicted" });
  expect(published(driver("Evicted"), "Starting", "Starting")).toEqual({
    reason: "Starting",
    cause: { reason: "Evicted", message: "" },
  });
});

it("an end that an observer found stands also where something is waited for", () => {
  expect(published(observer("Evicted"), "Starting", "Starting")).toEqual({ reason: "Evicted" });
  expect(published(observer("OOMKilled"), "Starting", "Starting")).toEqual({
    reason: "Starting",
    cause: { reason: "OOMKilled", message: "" },
  });
});

it("a word that Kubernetes would refuse is the cause of the fallback", () => {
  const word = "OutOfephemeral-storage";
  expect(published(driver(word), "ProcessExited", "Error")).toEqual({
    reason: "ProcessExited",
    cause: { reason: sanitizeReason(word), message: "" },
  });
});

it("a word that nobody knows stands as it is, where it may", () => {
  expect(published(driver("SomethingNew"), "Starting", "Starting")).toEqual({ reason: "SomethingNew" });
  expect(published(driver("something new"), "Starting", "Starting")).toEqual({ reason: "Starting" });
});

it("a policy welcomes what it names, by either of its names, and nothing else", () => {
  expect(isRecoverable("OOMKilled", { recoverable: ["OutOfMemory"] })).toBe(true);
  expect(isRecoverable("OOMKilled", { recoverable: ["OOMKilled"] })).toBe(true);
  expect(isRecoverable("OutOfMemory", { recoverable: ["OOMKilled"] })).toBe(false);
  for (const policy of [undefined, {}, { recoverable: [] }])
    expect(isRecoverable("Evicted", policy)).toBe(false);
});

it("an error tells of infrastructure alone where the run left no code and nobody has to act on it", () => {
  expect(isInfrastructureError("BackendError", null)).toBe(true);
  expect(isInfrastructureError(null, undefined)).toBe(true);
  expect(isInfrastructureError("BackendError", 1)).toBe(false);
  expect(isInfrastructureError("MainProcessFailed", null)).toBe(false);
});
