import { describe, expect, it } from "vitest";
import { ApiError } from "../src/api/api-error.js";
import { recordPatch } from "../src/store/record-object.js";

describe("a text that is cut", () => {
  it.each([["😀".repeat(500)], [`x${"😀".repeat(500)}`]])("keeps no half of a character", (text) => {
    expect(new ApiError("GET /", 500, text).message).not.toMatch(/\p{Surrogate}/u);
    const read = { id: "sb-1", name: "box", uid: "u", resourceVersion: "1", version: 1 };
    const change = { dueAt: null, value: { phase: "Error", reason: "X", message: text } };
    const shown = JSON.stringify(recordPatch(read as never, change, "w")["view"]);
    expect(shown).toContain("😀");
    expect(shown).not.toMatch(/\p{Surrogate}|\\ud[89a-f]/u);
  });
});
