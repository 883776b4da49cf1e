import { describe, expect, it } from "vitest";
import { isNotFound } from "./lookup-error.js";

describe("a look-up that failed", () => {
  it.each([
    [{ status: 404 }],
    [{ code: 404 }],
    [{ statusCode: 404 }],
    [{ code: "NOT_FOUND" }],
    [{ code: 5 }],
    [{ response: { status: 404 } }],
    [{ kind: "Status", status: "Failure", reason: "NotFound", code: 404, details: { name: "sb" } }],
    [{ kind: "Status", reason: "NotFound" }],
    [{ statusCode: 404, body: { kind: "Status", reason: "NotFound", code: 404, details: { name: "sb" } } }],
  ])("%j is a definite not-found", (error) => {
    expect(isNotFound(error)).toBe(true);
  });

  it.each([
    [{ transport: "connection refused" }],
    [{ transport: "timeout", code: 404 }],
    [{ status: 403 }],
    [{ status: 410 }],
    [{ status: 503 }],
    // The API is not served: the answer is about the path, not about the object.
    [{ kind: "Status", status: "Failure", reason: "NotFound", code: 404, details: {} }],
    [{ statusCode: 404, body: { kind: "Status", reason: "NotFound", code: 404, details: { causes: [] } } }],
    [{ kind: "Status", status: "Failure", reason: "Forbidden", code: 403 }],
    [{ kind: "Status", reason: "NotFound", code: 500 }],
    [{ message: "404 not found" }],
    ["404"],
    [404],
    [null],
    [[]],
  ])("%j says nothing about the object", (error) => {
    expect(isNotFound(error)).toBe(false);
  });
});
