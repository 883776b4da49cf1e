import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import type { SandboxView } from "../src/http/view.js";
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

const BOX = { name: "box", driver: "fake", image: { path: "/image" }, command: ["work"] };

function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init = { method, headers };
  return app.request(
    path,
    body === undefined ? init : { ...init, body: typeof body === "string" ? body : JSON.stringify(body) },
  );
}

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

async function create(fields: object = {}): Promise<SandboxView> {
  const response = await send("POST", "/v1/sandboxes", { ...BOX, ...fields });
  expect(response.status).toBe(201);
  await bench.settle();
  return (await response.json()) as SandboxView;
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

describe("another machine", () => {
  const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}) =>
    app.request("/v1/sandboxes", { headers }, { incoming: { socket: { remoteAddress } } });

  it("may not use an API that asks for no token, whatever host it names", async () => {
    expect((await from("127.0.0.1")).status).toBe(200);
    expect((await from("::ffff:127.0.0.1")).status).toBe(200);
    for (const address of ["10.0.0.7", "::ffff:10.0.0.7", "2001:db8::1", "127evil", undefined])
      expect((await from(address, { host: "localhost" })).status, address).toBe(403);
  });

  it("may use one that asks for a token, with the token", async () => {
    app = buildApp({ gateway, log: () => undefined, ownerToken: "owner" });
    expect((await from("10.0.0.7")).status).toBe(401);
    expect((await from("10.0.0.7", { authorization: "Bearer owner" })).status).toBe(200);
  });
});

describe("secrets", () => {
  it("are not shown to users", async () => {
    const box = await create();
    const token = (await gateway.records.read(box.id))?.record.deadline?.attempt ?? "";
    for (const path of ["/v1/sandboxes", `/v1/sandboxes/${box.id}`]) {
      const text = await (await send("GET", path)).text();
      expect(text).toContain(box.id);
      expect(text).not.toContain(token);
    }
  });

  it("are asked for where an owner's token is set, and a supervisor's do not open the user's side", async () => {
    const box = await create();
    const attempt = (await gateway.records.read(box.id))?.record.deadline?.attempt ?? "";
    app = buildApp({ gateway, log: () => undefined, ownerToken: "owner" });
    const as = (token: string) =>
      send("GET", `/v1/sandboxes/${box.id}`, undefined, { authorization: `Bearer ${token}` });
    expect((await send("GET", "/v1/sandboxes")).status).toBe(401);
    expect((await as("wrong")).status).toBe(401);
    expect((await as(attempt)).status).toBe(401);
    expect((await as("owner")).status).toBe(200);
    for (const header of [
      "",
      "Bearer",
      "Bearer ",
      "Bearer  ",
      "Basic owner",
      "owner",
      "Bearer owner2",
      "Bearer owne",
    ]) {
      const given = { headers: { authorization: header } };
      expect((await app.request("/v1/sandboxes", given)).status, JSON.stringify(header)).toBe(401);
    }
    for (const query of ["token=owner", "access_token=owner", "authorization=Bearer%20owner"])
      expect((await send("GET", `/v1/sandboxes?${query}`)).status).toBe(401);
    expect((await send("GET", "/healthz")).status).toBe(200);
  });

  it("open nothing to whoever shows none, also where the gateway's own is empty", async () => {
    app = buildApp({ gateway, log: () => undefined, ownerToken: "", metricsToken: "" });
    for (const headers of [{}, { authorization: "" }, { authorization: "Bearer " }])
      expect((await app.request("/v1/sandboxes", { headers })).status).toBe(401);
  });

  it("are no help to a web page in a browser of this machine", async () => {
    const create = (headers: Record<string, string>) => send("POST", "/v1/sandboxes", BOX, headers);
    expect((await create({ origin: "https://example.org" })).status).toBe(403);
    expect((await create({ origin: "null" })).status).toBe(403);
    expect((await create({ host: "rebound.example.org:7300" })).status).toBe(403);
    expect((await gateway.records.list({ limit: 9 })).items).toEqual([]);
    expect((await create({ host: "127.0.0.1:7300", origin: "http://127.0.0.1:7300" })).status).toBe(201);
  });

  it("of an attempt open its supervisor's side, for its own run only", async () => {
    const box = await create();
    const attempt = (await gateway.records.read(box.id))?.record.deadline?.attempt ?? "";
    const as = (token: string, run: string) =>
      send("GET", `/v1/supervisor/${box.id}/configuration`, undefined, {
        authorization: `Bearer ${token}`,
        "x-slipway-run": run,
      });
    expect((await as("guess", "1")).status).toBe(401);
    expect((await as(attempt, "2")).status).toBe(409);
    const granted = await as(attempt, "1");
    expect(await granted.json()).toMatchObject({ generation: 1, policy: { version: 1 } });
    await gateway.stopSandbox(box.id);
    expect((await as(attempt, "1")).status).toBe(410);
  });
});

describe("event streams", () => {
  /** Reads until the text has what is looked for, then hangs up. */
  async function readUntil(path: string, found: (text: string) => boolean, lastId?: string): Promise<string> {
    const abort = new AbortController();
    const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
    const response = await app.request(path, { headers, signal: abort.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!found(text)) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    await reader.cancel();
    return text;
  }

  it("show a sandbox now and after each change, and say when it is gone", async () => {
    const box = await create();
    const path = `/v1/sandboxes/${box.id}/watch`;
    const stream = readUntil(path, (text) => text.includes("event: deleted"));
    await bench.settle();
    await gateway.deleteSandbox(box.id);
    const text = await stream;
    expect(text).toMatch(/^event: sandbox\n/);
    expect(text).toContain('"phase":"Provisioning"');
  });

  it("of one sandbox resume at the version that the client has", async () => {
    const box = await create();
    const { version } = (await gateway.records.read(box.id))!;
    const path = `/v1/sandboxes/${box.id}/watch`;
    const behind = await readUntil(path, (text) => text.includes("id: "), String(version - 1));
    expect(behind).toContain(`id: ${version}`);
    const upToDate = readUntil(path, (text) => text.includes("id: "), String(version));
    await bench.settle();
    await gateway.update(box.id, { policy: { version: 1 } });
    expect(await upToDate).toContain(`id: ${version + 1}`);
  });

  it("of all sandboxes resume what was missed, or begin with a fresh snapshot", async () => {
    const box = await create();
    const first = await readUntil("/v1/events", (text) => /event: snapshot\n.*\n.*\n\n/.test(text));
    expect(first).toMatch(/^event: reset\n/);
    expect(first).toContain(box.id);
    const id = /id: (\S+)/.exec(first)?.[1] ?? "";
    await gateway.update(box.id, { policy: { version: 1 } });
    const missed = await readUntil("/v1/events", (text) => text.includes("\n\n"), id);
    expect(missed).toMatch(/^event: sandbox\n/);
    expect(missed).toContain('"generation":2');
    const unknown = await readUntil("/v1/events", (text) => text.includes("event: snapshot"), "other.5");
    expect(unknown).toMatch(/^event: reset\n/);
  });
});
