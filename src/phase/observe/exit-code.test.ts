import { describe, expect, it } from "vitest";
import { exitCause, isKill } from "./exit-code.js";

describe("an exit code", () => {
  it.each([
    [0, null],
    [1, "ProcessExited"],
    [128, "ProcessExited"],
    [129, "Killed"],
    [137, "Killed"],
    [192, "Killed"],
    [193, "ProcessExited"],
    [255, "ProcessExited"],
    [-1, "Killed"],
    [-15, "Killed"],
    [3_221_225_786, "ProcessExited"],
  ])("%i says %s", (code, cause) => {
    expect(exitCause(code)).toBe(cause);
  });

  it("is that of SIGKILL in each of its spellings, and in no other", () => {
    for (const code of [137, 9, -1, -9]) expect(isKill(code)).toBe(true);
    for (const code of [null, 0, 1, 143, 15, -15]) expect(isKill(code)).toBe(false);
  });
});
