import { describe, expect, it } from "vitest";
import { plain, useTarget } from "./target.js";

const target = useTarget();

describe("the status subresource", () => {
  it("takes the status and nothing else, and leaves the generation alone", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const reply = await api.put(`${sandboxes}/a/status`, {
      ...made,
      metadata: { ...made.metadata, labels: { a: "b" } },
      spec: { ...made.spec, operatingMode: "Suspended" },
      status: { nodeName: "n1" },
    });
    expect(reply.code).toBe(200);
    expect(reply.body.status).toEqual({ nodeName: "n1" });
    expect(reply.body.spec["operatingMode"]).toBe("Running");
    expect(reply.body.metadata.labels).toBeUndefined();
    expect(reply.body.metadata.generation).toBe(1);
    expect(reply.body.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
    expect(plain((await api.get(`${sandboxes}/a/status`)).body)).toEqual(plain(reply.body));
  });

  it("is the only way to the status", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const main = await api.merge(`${sandboxes}/a`, { status: { nodeName: "n1" } });
    expect(main.code).toBe(200);
    expect(main.body.status).toBeUndefined();
    expect(main.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it("checks versions and values as the object does", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    await api.merge(`${sandboxes}/a/status`, { status: { nodeName: "n1" } });
    expect((await api.put(`${sandboxes}/a/status`, { ...made, status: { nodeName: "n2" } })).code).toBe(409);
    const conditions = [
      { type: "Ready", status: "true", reason: "a b", message: "", lastTransitionTime: "x" },
    ];
    const bad = await api.merge(`${sandboxes}/a/status`, { status: { conditions } });
    expect(bad.code).toBe(422);
    const fields = bad.body.details.causes.map((cause) => cause.field);
    expect(fields.sort()).toEqual([
      "status.conditions[0].lastTransitionTime",
      "status.conditions[0].reason",
      "status.conditions[0].status",
    ]);
  });
});
