import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import type { SandboxView } from "../src/http/view.js";
import { BOX, createOn, sendTo } from "./api-requests.js";
import { Bench } from "./bench.js";

let bench: Bench;
let gateway: Gateway;
let app: Hono;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  app = buildApp({ gateway, log: () => undefined });
});

afterEach(() => bench.close());

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  sendTo(app, method, path, body, headers);
const create = (fields?: object) => createOn(app, bench, fields);

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

describe("bad input", () => {
  const cases: [string, unknown, string, RegExp][] = [
    ["no JSON", "{", "body", /must be JSON/],
    ["no object", [], "body", /must be object/],
    ["a missing name", { ...BOX, name: undefined }, "name", /must be string, got nothing/],
    ["a name with capitals", { ...BOX, name: "Box" }, "name", /lower-case.*got "Box"/],
    ["an empty command", { ...BOX, command: [] }, "command", /got \[\]/],
    ["a command of numbers", { ...BOX, command: ["a", 1] }, "command[1]", /must be string, got 1/],
    ["no program", { ...BOX, command: ["", "x"] }, "command[0]", /name of a program, got ""/],
    ["a NUL in a word", { ...BOX, command: ["a", "b\0"] }, "command[1]", /without a NUL/],
    [
      "a command that is too long",
      { ...BOX, command: ["a", "x".repeat(100_000)] },
      "command",
      /at most 100000 bytes/,
    ],
    ["an unknown field", { ...BOX, colour: "red" }, "colour", /no such field.*"red"/],
    ["an unknown driver", { ...BOX, driver: "cloud" }, "driver", /one of fake, got "cloud"/],
    ["a policy that is no object", { ...BOX, policy: [] }, "policy", /got \[\]/],
    [
      "a key that would be lost on the way",
      { ...BOX, policy: { version: 1, deep: [JSON.parse('{"__proto__":1}')] } },
      "policy.deep[0].__proto__",
      /absent/,
    ],
    ["a budget of 0", { ...BOX, budgets: { preparationMs: 0 } }, "budgets.preparationMs", />0, got 0/],
    ["a budget of a fraction", { ...BOX, budgets: { stallMs: 1.5 } }, "budgets.stallMs", /got 1.5/],
    [
      "a budget above the gateway's",
      { ...BOX, budgets: { admissionMs: 30_001 } },
      "budgets.admissionMs",
      /at most 30000/,
    ],
    ["an option of another driver", { ...BOX, driverOptions: { gpu: 1 } }, "driverOptions.gpu", /absent/],
  ];
  for (const [what, body, field, message] of cases) {
    it(`is refused by field and value: ${what}`, async () => {
      const response = await send("POST", "/v1/sandboxes", body);
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as {
        error: { code: string; field: string; message: string };
      };
      expect(error).toMatchObject({ code: "invalid-input", field });
      expect(error.message).toMatch(message);
      expect((await gateway.records.list({ limit: 9 })).items).toEqual([]);
    });
  }

  it("is refused in queries, updates and reports as well, and loses nothing", async () => {
    const box = await create();
    expect((await send("GET", "/v1/sandboxes?limit=0")).status).toBe(400);
    expect((await send("GET", "/v1/sandboxes?page=2")).status).toBe(400);
    expect((await send("PUT", `/v1/sandboxes/${box.id}/configuration`, { policy: "x" })).status).toBe(400);
    expect(
      (await send("POST", `/v1/supervisor/${box.id}/report`, { kind: "progress", position: 9 })).status,
    ).toBe(400);
    expect((await gateway.records.read(box.id))?.record.configuration.generation).toBe(1);
  });

  it("is refused by its field when it is nested too deep, however deep", async () => {
    const box = await create({ policy: { nested: JSON.parse(nested(60)) as unknown } });
    const inBody = (depth: number) => `{"policy":{"version":1,"x":${nested(depth)}}}`;
    const path = `/v1/sandboxes/${box.id}/configuration`;
    for (const depth of [65, 50_000]) {
      const response = await send("PUT", path, inBody(depth));
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: { field: string; message: string } };
      expect(error).toMatchObject({ code: "invalid-input", field: "policy" });
      expect(error.message).toMatch(/nested at most 64 deep/);
      expect((await send("POST", "/v1/sandboxes", nested(depth))).status).toBe(400);
      expect((await send("POST", "/v1/sandboxes", `{"name":${nested(depth)}}`)).status).toBe(400);
    }
  });

  it("is refused when it is too large", async () => {
    const policy = { text: "x".repeat(300_000) };
    expect((await send("POST", "/v1/sandboxes", { ...BOX, policy })).status).toBe(413);
  });

  it("meets nothing at unknown places: there is no way in for progress", async () => {
    const box = await create();
    for (const path of [
      `/v1/sandboxes/${box.id}/progress`,
      `/v1/supervisor/${box.id}/progress`,
      "/v1/nothing",
    ]) {
      expect((await send("POST", path, {})).status).toBe(404);
    }
    for (const path of ["/v1/sandboxes/none", "/v1/sandboxes/none/watch"]) {
      expect((await send("GET", path)).status).toBe(404);
    }
  });
});

describe("repeating a request", () => {
  it("creates once, and tells the same request from another one of that name", async () => {
    const box = await create();
    const again = await send("POST", "/v1/sandboxes", BOX);
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ id: box.id });
    const other = await send("POST", "/v1/sandboxes", { ...BOX, command: ["other"] });
    expect(other.status).toBe(409);
  });

  it("starts, stops and deletes once", async () => {
    const box = await create();
    expect((await send("POST", `/v1/sandboxes/${box.id}/start`)).status).toBe(200);
    expect((await send("POST", `/v1/sandboxes/${box.name}/stop`)).status).toBe(202);
    await bench.settle();
    expect((await send("POST", `/v1/sandboxes/${box.id}/stop`)).status).toBe(200);
    expect((await send("DELETE", `/v1/sandboxes/${box.id}`)).status).toBe(202);
    await bench.settle();
    expect((await send("DELETE", `/v1/sandboxes/${box.id}`)).status).toBe(404);
  });

  it("commits a configuration only on the generation that was asked for", async () => {
    const box = await create();
    const path = `/v1/sandboxes/${box.id}/configuration`;
    expect((await send("PUT", path, { policy: { version: 1 }, ifGeneration: 1 })).status).toBe(200);
    expect((await send("PUT", path, { policy: { version: 1 }, ifGeneration: 1 })).status).toBe(412);
  });
});

describe("what may be done", () => {
  it("is shown with its route or the reason against it, and the rule that decides", async () => {
    const box = await create();
    expect(box.operations).toMatchObject({
      start: { allowed: false, reason: "InProgress", rule: "start-provisioning" },
      stop: { allowed: true, route: "stop" },
      delete: { allowed: true, route: "delete" },
    });
    expect(box).toMatchObject({
      driver: "fake",
      isolationBackend: null,
      decision: { rule: "no-observation" },
    });
    expect(await (await send("POST", `/v1/sandboxes/${box.id}/stop`)).json()).toMatchObject({
      phase: "Stopping",
      operations: { start: { allowed: false, reason: "Stopping" }, stop: { allowed: true, route: "retry" } },
    });
    await bench.settle();
    const stopped = (await (await send("GET", `/v1/sandboxes/${box.id}`)).json()) as SandboxView;
    expect(stopped).toMatchObject({
      phase: "Stopped",
      operations: { start: { allowed: true, route: "resume" }, stop: { allowed: true, route: "noop" } },
      decision: { phase: "Stopped", rule: "stop-kept" },
    });
  });

  it("names the first driver where a request names none, and takes an image without a path", async () => {
    const response = await send("POST", "/v1/sandboxes", {
      name: "box",
      image: { name: "r/i:1" },
      command: ["x"],
    });
    expect(await response.json()).toMatchObject({ driver: "fake", image: { name: "r/i:1" } });
    const neither = await send("POST", "/v1/sandboxes", { name: "other", image: {}, command: ["x"] });
    expect(neither.status).toBe(400);
    expect(((await neither.json()) as { error: object }).error).toMatchObject({ field: "image" });
  });
});
