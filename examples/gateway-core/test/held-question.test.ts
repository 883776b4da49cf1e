import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";

describe("a question that a supervisor's gateway holds", () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.open();
  });

  afterEach(() => bench.close());

  /** A sandbox that runs, whose supervisor asks. */
  async function asking(tellsOfWrites: boolean) {
    const gateway = await bench.gateway("one", { tellsOfWrites, sweepEveryMs: 2_000_000_000 });
    const app = buildApp({ gateway, log: () => undefined });
    const id = await bench.create(gateway);
    const { deadline, run, configuration } = await bench.becomeReady(gateway, id);
    const headers = {
      authorization: `Bearer ${deadline?.attempt ?? ""}`,
      "x-slipway-run": String(run),
    };
    const ask = (waitMs: number, after = configuration.generation, method = "GET"): Promise<Response> =>
      Promise.resolve(
        app.request(`/v1/supervisor/${id}/configuration?after=${after}&waitMs=${waitMs}`, {
          method,
          headers,
        }),
      );
    let reads = 0;
    const store = bench.storeOf(gateway);
    const { get } = store;
    store.get = (which) => {
      reads += 1;
      return get.call(store, which);
    };
    return { gateway, id, ask, readsOf: () => reads };
  }

  it("is no read of the store in a second where the store tells of writes, and its session stays", async () => {
    const { gateway, id, ask, readsOf } = await asking(true);
    const held = ask(20_000);
    await bench.settle();
    const before = readsOf();
    for (let second = 0; second < 19; second += 1) {
      await bench.pass(1000);
      expect(gateway.standing((await gateway.records.read(id))!.record)).toBeDefined();
    }
    // Each turn of this test has read once itself.
    expect(readsOf() - before - 19).toBe(0);
    await bench.pass(1000);
    expect((await held).status).toBe(204);
  });

  it("is one where it does not", async () => {
    const { ask, readsOf } = await asking(false);
    const held = ask(20_000);
    await bench.settle();
    const before = readsOf();
    await bench.pass(10_000);
    expect(readsOf() - before).toBe(10);
    await bench.pass(10_000);
    expect((await held).status).toBe(204);
  });

  it("is answered at once at news of another gateway, and within a second when news may have been lost", async () => {
    const { gateway, id, ask } = await asking(true);
    const other = await bench.gateway("two");
    const write = async (text: string): Promise<number> => {
      const { version } = await other.update(id, { policy: { version: 1, env: { TRY: text } } });
      return version;
    };
    const told = ask(60_000);
    await bench.settle();
    await gateway.noticeChange({ id, version: await write("one") });
    await bench.settle();
    expect(await (await told).json()).toMatchObject({ policy: { env: { TRY: "one" } } });
    for (const [index, notice] of [() => gateway.noticeGap(), () => gateway.noticeWrites()].entries()) {
      const held = ask(60_000, 2 + index);
      await bench.settle();
      await write(`more ${index}`);
      notice();
      await bench.pass(1000);
      expect(await (await held).json()).toMatchObject({ policy: { env: { TRY: `more ${index}` } } });
    }
  });

  it("is looked at now and then, should news be lost without a word", async () => {
    const { id, ask } = await asking(true);
    const other = await bench.gateway("two");
    const held = ask(60_000);
    await bench.settle();
    await other.update(id, { policy: { version: 1, env: { TRY: "lost" } } });
    await bench.pass(30_000);
    expect(await (await held).json()).toMatchObject({ policy: { env: { TRY: "lost" } } });
  });

  it("is not held where only its headers are asked for", async () => {
    const { ask } = await asking(true);
    expect((await ask(60_000, undefined, "HEAD")).status).toBe(204);
  });

  it("is one of a few for one supervisor", async () => {
    const { ask } = await asking(true);
    const held = [ask(20_000), ask(20_000), ask(20_000), ask(20_000)];
    await bench.settle();
    expect((await ask(20_000)).status).toBe(429);
    // What needs no waiting is answered.
    expect((await ask(0)).status).toBe(204);
    await bench.pass(20_000);
    for (const each of held) expect((await each).status).toBe(204);
    const again = ask(1000);
    await bench.pass(1000);
    expect((await again).status).toBe(204);
  });
});
