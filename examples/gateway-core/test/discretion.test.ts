import fc from "fast-check";
import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { discreetLog, jsonLog } from "../src/gateway/log.js";
import { HIDDEN } from "../src/gateway/secrets.js";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";
import { secret } from "./secret-texts.js";

const OWNER = "owner-Tok3n-of-this-gateway";

/** Where a line says it, for whoever reads of the failure. */
function aroundOf(line: string, form: string): string[] {
  const at = line.indexOf(form);
  return at === -1 ? [] : [line.slice(Math.max(at - 200, 0), at + form.length)];
}

describe("nothing that a gateway says", () => {
  let bench: Bench;
  let gateway: Gateway;
  let app: Hono;
  let said: string[];

  beforeEach(() => open());

  afterEach(() => bench.close());

  async function open(): Promise<void> {
    bench = await Bench.open();
    said = [];
    const log = discreetLog(
      jsonLog(
        (line) => said.push(line),
        () => bench.clock.now(),
      ),
      [OWNER],
    );
    gateway = await bench.gateway("one", { log });
    app = buildApp({ gateway, log, ownerToken: OWNER });
  }

  async function send(method: string, path: string, body?: unknown, token = OWNER, more: object = {}) {
    const headers = { authorization: `Bearer ${token}`, ...more };
    const init = { method, headers };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await app.request(path, body === undefined ? init : { ...init, body: text });
    said.push(await response.clone().text(), JSON.stringify([...response.headers]));
    return response;
  }

  /** Follows a stream until the gateway has nothing to add, which is what everybody who watches sees. */
  async function follow(path: string, while_: () => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const response = await app.request(path, {
      headers: { authorization: `Bearer ${OWNER}` },
      signal: abort.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const reading = (async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) said.push(part.value);
    })();
    await while_();
    await bench.settle();
    await reader.cancel();
    await reading.catch(() => undefined);
  }

  /** Everybody who words a message quotes everything that they were given. */
  async function life(name: string, hidden: readonly string[]): Promise<void> {
    const [first = "", second = "", third = ""] = hidden;
    const policy = { version: 1, env: { FIRST: first, SECOND: second } };
    const box = { name, driver: "fake", image: { name: "i" }, command: ["work"], policy };
    const { id } = (await (await send("POST", "/v1/sandboxes", box)).json()) as { id: string };
    await bench.settle();
    const { token } = bench.driver.launches.at(-1)!.request.access;
    // What nobody told the gateway it cannot know: the third is told with the update.
    const known = [first, second, token].join(" / ");
    const all = [...hidden, token].join(" / ");
    const supervisor = (body: object) =>
      send("POST", `/v1/supervisor/${id}/report`, body, token, { "x-slipway-run": "2" });
    await follow(`/v1/sandboxes/${id}/watch`, async () => {
      bench.driver.launches.at(-1)!.fail(new Error(`create failed with ${known}`));
      await bench.pass(3000);
      bench.driver.launches.at(-1)?.succeed();
      await bench.settle();
      const cause = { reason: "REFUSED", message: `what was sent: ${known}` };
      await supervisor({
        kind: "bootstrap",
        succeeded: false,
        reason: "BootstrapInProgress",
        message: known,
        cause,
      });
      await supervisor({
        kind: "rejected",
        generation: 1,
        reason: "ConfigurationInvalid",
        message: `no ${known}`,
      });
      const again = { version: 1, env: { FIRST: first, SECOND: second, THIRD: third } };
      await send("PUT", `/v1/sandboxes/${id}/configuration`, { policy: again });
      await supervisor({ kind: "bootstrap-failed", reason: "BootstrapFailed", message: all, cause });
      bench.driver.cleanUp = () => Promise.reject(new Error(`cannot remove ${all}`));
      await bench.pass(5000);
    });
    await send("GET", "/v1/sandboxes");
    await send("GET", `/v1/sandboxes/${id}`);
    await send("POST", "/v1/sandboxes", `{"name":"x","policy":{"env":{"A":"${first}"`);
    await send("POST", "/v1/sandboxes", { ...box, policy: [first, second, third, token] });
    await send("POST", "/v1/sandboxes", { ...box, policy: first });
    await send("POST", "/v1/sandboxes", { ...box, driverOptions: { password: third } });
    await send("POST", "/v1/sandboxes", { ...box, image: policy });
    await send("PUT", `/v1/sandboxes/${id}/configuration`, { policy, ifGeneration: 99 });
    await supervisor({ kind: "rejected", generation: 1, reason: "X", message: [all] });
    await supervisor({ kind: "enforcement-lost", message: all.repeat(200) });
    await send("GET", `/v1/sandboxes/${id}`, undefined, token);
    await send("GET", `/v1/sandboxes/${id}`, undefined, `${OWNER}x`);
    const { conditions, message } = await bench.read(gateway, id);
    said.push(JSON.stringify(conditions), message);
  }

  it("has a token, a secret or the value of a variable in it: no log, stream, error, answer or condition", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(secret, { minLength: 3, maxLength: 3 }), async (hidden) => {
        await bench.close();
        await open();
        await life("box", hidden);
        const text = said.join("\n");
        // As it is, and as JSON writes it.
        for (const each of [...hidden, OWNER, "slipway-attempt-"])
          for (const form of [each, JSON.stringify(each).slice(1, -1)])
            expect(said.flatMap((line) => aroundOf(line, form))).toEqual([]);
        for (const shown of [HIDDEN, "FIRST"]) expect(text.includes(shown)).toBe(true);
      }),
      { seed: 11, numRuns: 8 },
    );
  });

  it("shows the value of a damaged record, wherever the damage is", async () => {
    const policy = { version: 1, env: { KEY: "sk-of-a-record" } };
    const { record } = await gateway.create({ ...bench.request, policy });
    await bench.settle();
    const store = bench.storeOf(gateway);
    const stored = (await store.get(record.id))!;
    const broken = [
      { ...stored.value, configuration: { ...policy, digest: "sk-of-a-record" } },
      { ...stored.value, deadline: { ...(stored.value["deadline"] as object), attempt: ["sk-of-a-record"] } },
      { ...stored.value, colour: policy },
    ];
    for (const value of broken) {
      const found = (await store.get(record.id))!;
      await store.compareAndSwap(record.id, found.version, { dueAt: null, value });
      const one = await send("GET", `/v1/sandboxes/${record.id}`);
      expect(one.status).toBe(500);
      expect(((await one.json()) as { error: { message: string } }).error.message).toContain("is corrupt");
      await send("GET", "/v1/sandboxes");
      await bench.pass(5000);
    }
    expect(said.filter((line) => line.includes("sk-of-a-record"))).toEqual([]);
  });
});
