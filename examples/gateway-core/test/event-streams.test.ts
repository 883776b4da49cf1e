import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import { createOn } from "./api-requests.js";
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

const create = () => createOn(app, bench);

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
