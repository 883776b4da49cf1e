import type { Hono } from "hono";
import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";

let bench: Bench;
let open: Hono;
let owned: Hono;

beforeEach(async () => {
  bench = await Bench.open();
  const gateway = await bench.gateway();
  open = buildApp({ gateway, log: () => undefined });
  owned = buildApp({ gateway, log: () => undefined, ownerToken: "secret" });
});

afterEach(() => bench.close());

describe("the live page", () => {
  it("is served with every file that its folder has, each of its type", async () => {
    const page = await open.request("/");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const types: Record<string, string> = {
      js: "text/javascript",
      css: "text/css",
      html: "text/html",
      svg: "image/svg",
    };
    for (const name of readdirSync(new URL("../src/page/", import.meta.url))) {
      const file = await open.request(`/page/${name}`);
      expect(file.status).toBe(200);
      expect(file.headers.get("content-type")).toContain(types[name.split(".").at(-1)!]);
    }
  });

  it("links to nothing that is not there, or is elsewhere", async () => {
    const html = await (await open.request("/")).text();
    const links = [...html.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) {
      expect(link).toMatch(/^page\//);
      expect((await open.request(`/${link}`)).status).toBe(200);
    }
  });

  it("has no script, style or handler within, so that the policy needs no exception", async () => {
    const html = await (await open.request("/")).text();
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:/i);
    const policy = (await open.request("/")).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|http/);
    for (const header of ["x-content-type-options", "referrer-policy", "cross-origin-resource-policy"])
      expect((await open.request("/page/main.js")).headers.get(header)).not.toBeNull();
  });

  it("is asked for again at little cost", async () => {
    const tag = (await open.request("/page/main.js")).headers.get("etag")!;
    const again = await open.request("/page/main.js", { headers: { "if-none-match": tag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    const old = await open.request("/page/main.js", { headers: { "if-none-match": '"old"' } });
    expect(old.status).toBe(200);
  });

  it("leads to no other file", async () => {
    const paths = [
      "../http/app.ts",
      "..%2Fhttp%2Fapp.ts",
      "%2e%2e/http/app.ts",
      "constructor",
      "__proto__",
      "",
      "x.js",
    ];
    for (const path of paths) {
      const answer = await open.request(`/page/${path}`);
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  it("tells the gateway's time", async () => {
    const { now } = (await (await open.request("/page/now")).json()) as { now: number };
    expect(now).toBe(bench.clock.now());
  });
});

describe("who gets it", () => {
  it("without a token: this machine, by a name of its own", async () => {
    for (const path of ["/", "/page/main.js", "/page/now"]) {
      expect((await open.request(path, { headers: { host: "rebound.example" } })).status).toBe(403);
      expect((await open.request(path, { headers: { host: "localhost:7300" } })).status).toBe(200);
    }
  });

  it("with a token: anybody, for there is nothing in it; what it shows needs the token", async () => {
    expect((await owned.request("/", { headers: { host: "gateway.example" } })).status).toBe(200);
    expect((await owned.request("/v1/sandboxes")).status).toBe(401);
    expect((await owned.request("/v1/events")).status).toBe(401);
    const headers = { authorization: "Bearer secret" };
    expect((await owned.request("/v1/sandboxes", { headers })).status).toBe(200);
  });
});
