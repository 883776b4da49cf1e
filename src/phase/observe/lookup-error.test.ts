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
    [{ cause: "no such container", message: 'no container with name or ID "sb" found', response: 404 }],
    [{ kind: "Status", status: "Failure", reason: "NotFound", code: 404, details: { name: "sb" } }],
    [{ code: "404" }],
    [{ code: 42 }],
    [{ code: "VIR_ERR_NO_DOMAIN" }],
    [{ response: { statusCode: 404 } }],
    [{ kind: "Status", reason: "NotFound" }],
    [{ kind: "Status", reason: "notFound", code: null }],
    [{ kind: "Status", code: 404 }],
    [{ status: "Failure", reason: "NotFound", code: 404, details: { name: "sb" } }],
    [{ response: { body: { kind: "Status", reason: "NotFound", details: { name: "sb" } } } }],
    [{ statusCode: 404, body: { kind: "Status", reason: "NotFound", code: 404, details: { name: "sb" } } }],
  ])("%j is a definite not-found", (error) => {
    expect(isNotFound(error)).toBe(true);
  });

  it("is one by its number, whatever words stand beside it that are no Kubernetes Status", () => {
    expect(isNotFound({ status: "error", reason: "no such container", statusCode: 404 })).toBe(true);
    expect(isNotFound({ reason: "no such container", statusCode: 404 })).toBe(true);
    expect(isNotFound({ status: "Failure", statusCode: 404 })).toBe(true);
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
    [{ kind: "Status", code: 410 }],
    [{ kind: "Status" }],
    [{ kind: "Status", reason: "Gone", code: 404 }],
    // A Kubernetes Status that lost its kind is still one: its own words decide, not the bare number.
    [{ status: "Failure", reason: "Forbidden", code: 404 }],
    [{ status: "Failure", reason: "NotFound", code: 404, details: {} }],
    [{ statusCode: 404, response: { body: { kind: "Status", reason: "NotFound", details: {} } } }],
    // The status of an object is a word, not the answer's number.
    [{ status: "404" }],
    [{ status: "NOT_FOUND" }],
    [{ response: { status: 503, statusCode: 503 } }],
    [{ cause: "no such container", message: "container state improper", response: 409 }],
    [{ message: "404 not found" }],
    ["404"],
    [404],
    [null],
    [[]],
  ])("%j says nothing about the object", (error) => {
    expect(isNotFound(error)).toBe(false);
  });
});
