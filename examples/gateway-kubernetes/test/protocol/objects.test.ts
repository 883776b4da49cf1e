import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Body } from "./https.js";
import { freshName, openTarget, sandbox, SANDBOXES, type Target } from "./target.js";

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target[Symbol.asyncDispose]());

async function create(more: Parameters<typeof sandbox>[1] = {}): Promise<Body> {
  const reply = await target.api.post(SANDBOXES, sandbox(freshName("object"), more));
  expect(reply.code, JSON.stringify(reply.body)).toBe(201);
  return reply.body;
}

describe("an object", () => {
  it("is created with identity, version, generation 1 and its defaults, and read back the same", async () => {
    const made = await create();
    expect(made.metadata).toMatchObject({ namespace: "default", generation: 1 });
    expect(made.metadata.uid).toMatch(/^[0-9a-f]{8}-/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(made.spec).toMatchObject({ operatingMode: "Running", shutdownPolicy: "Retain" });
    const read = await target.api.get(`${SANDBOXES}/${made.metadata.name}`);
    expect(read.code).toBe(200);
    expect(read.body).toEqual(made);
  });
});
