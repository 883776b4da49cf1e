import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
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
const create = () => createOn(app, bench);

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
