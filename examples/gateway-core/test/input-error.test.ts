import { describe, expect, it } from "vitest";
import { InvalidInputError } from "../src/input-error.js";

describe("what is wrong with an input", () => {
  it("is said in a message that can be passed on, however long the field is", () => {
    const error = new InvalidInputError(`policy.${"k".repeat(3000)}`, "absent", "x".repeat(3000));
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).toMatch(/^policy\.kkk.*… must be absent, got "xxx.*…$/);
  });
});
