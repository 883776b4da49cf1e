import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import type { Hono } from "hono";
import { bytes, fuzz } from "../../../test/fuzz/fuzz.js";
import { hostile, mutated } from "../../../test/fuzz/mutations.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";

let bench: Bench;
let gateway: Gateway;
let app: Hono;
let id: string;
let token: string;
/** What went wrong inside, which no request may bring about. */
let failures: string[];

beforeAll(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  failures = [];
  app = buildApp({ gateway, log: (event, fields) => failures.push(`${event} ${JSON.stringify(fields)}`) });
  id = await bench.create(gateway);
  token = (await bench.read(gateway, id)).deadline?.attempt ?? "";
});

afterAll(() => bench.close());

const ROUTES = ["create", "configuration", "report", "activation"] as const;

/** The first line names the route and the second the query; the rest is the body as it comes in. */
function requestOf(input: Buffer): { route: string; query: string; body: Buffer } {
  const first = input.indexOf("\n");
  const second = input.indexOf("\n", first + 1);
  const text = input.toString("latin1");
  return {
    route: text.slice(0, first),
    query: text.slice(first + 1, second),
    body: input.subarray(second + 1),
  };
}

/** An answer of the contract, never a failure of the gateway; a refused body names its field and changes nothing. */
async function law(input: Buffer): Promise<void> {
  const { route, query, body } = requestOf(input);
  const before = await gateway.records.list({ limit: 500 });
  const headers = { authorization: `Bearer ${token}`, "x-slipway-run": "1", "x-slipway-failures": query };
  const [method, path] =
    route === "configuration"
      ? ["PUT", `/v1/sandboxes/${id}/configuration`]
      : route === "create"
        ? ["POST", "/v1/sandboxes"]
        : ["POST", `/v1/supervisor/${id}/${route}`];
  const response = await app.request(path, { method, headers, body: new Uint8Array(body) });
  const answer = (await response.json()) as { error?: Record<string, unknown> };
  expect(failures.splice(0)).toEqual([]);
  expect(response.status).toBeLessThan(500);
  if (response.status < 400) {
    if (route === "create") await remove((answer as { id?: string }).id ?? "");
    return;
  }
  expect(answer.error?.["code"]).toBeTypeOf("string");
  expect(answer.error?.["message"]).toBeTypeOf("string");
  if (response.status !== 400) return;
  expect(answer.error).toMatchObject({ code: "invalid-input" });
  expect(answer.error).toHaveProperty("value");
  expect(answer.error?.["message"]).toContain(answer.error?.["field"]);
  expect(String(answer.error?.["message"]).length).toBeLessThan(1000);
  expect(await gateway.records.list({ limit: 500 })).toEqual(before);
  await search(query);
}

async function search(query: string): Promise<void> {
  const response = await app.request(`/v1/sandboxes?${encodeURI(query)}`);
  expect([200, 400]).toContain(response.status);
}

async function remove(created: string): Promise<void> {
  if (created === id) return;
  await gateway.deleteSandbox(created);
  for (let round = 0; round < 50 && (await gateway.records.read(created)) !== null; round += 1)
    await bench.pass(500);
}

const BOX = {
  name: "other",
  driver: "fake",
  image: { name: "image", path: "/image", include: ["bin"] },
  command: ["work", "hard"],
  policy: { version: 1, env: { A: "b" }, network: { allow: ["example.org:443"] } },
  driverOptions: {},
  budgets: { preparationMs: 1000, admissionMs: 1000, stallMs: 10 },
};
const BODIES: Readonly<Record<(typeof ROUTES)[number], readonly unknown[]>> = {
  create: [BOX],
  configuration: [{ policy: BOX.policy, ifGeneration: 1 }],
  report: [
    { kind: "rejected", generation: 1, reason: "ConfigurationInvalid", message: "no" },
    {
      kind: "bootstrap",
      succeeded: false,
      reason: "BootstrapInProgress",
      message: "m",
      cause: { reason: "R", message: "m" },
    },
    { kind: "enforcement-lost", message: "gone" },
  ],
  activation: [
    { expectedVersion: null, next: { state: "activating", version: 1, claim: "c", at: 0 } },
    { expectedVersion: 1, next: null },
  ],
};

const inputs: fc.Arbitrary<Buffer> = fc
  .record({
    route: fc.constantFrom(...ROUTES),
    query: fc.oneof(
      fc.constantFrom("limit=1", "after=a&limit=", "limit=1e3", "page", "transient=3, suspect=99999"),
      fc.string(),
    ),
  })
  .chain(({ route, query }) =>
    fc
      .oneof(
        { weight: 8, arbitrary: mutated(BODIES[route]).map((body) => Buffer.from(text(body))) },
        { weight: 1, arbitrary: hostile.map((body) => Buffer.from(text(body))) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((body) => Buffer.from(body)) },
        {
          weight: 1,
          arbitrary: fc
            .tuple(fc.constantFrom(...BODIES[route]), fc.nat(200))
            .map(([body, at]) => Buffer.from(text(body).slice(0, at))),
        },
      )
      .map((body) => Buffer.concat([Buffer.from(`${route}\n${query.replaceAll("\n", "")}\n`), body])),
  );

function text(body: unknown): string {
  return JSON.stringify(body);
}

fuzz<Buffer>({
  name: "http-bodies",
  corpus: new URL("fuzz/corpus/", import.meta.url),
  codec: { ...bytes, ending: ".request" },
  inputs,
  law,
  runs: 150,
});
