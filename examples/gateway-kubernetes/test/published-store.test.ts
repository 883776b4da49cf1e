import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import type { RecordStore } from "@slipway-examples/gateway-core";
import { PhasePublisher } from "../src/publish/phase-publisher.js";
import { PublishedStore } from "../src/publish/published-store.js";
import { SandboxObjects } from "../src/driver/sandbox-objects.js";
import { KubeClient } from "../src/api/kube-client.js";
import { SETTINGS } from "./kit.js";

/** A store that takes every write, and a cluster that has no sandboxes; the looks at it are counted. */
function published(remembered: number) {
  const looks: string[] = [];
  const clock = new VirtualClock();
  const transport = ({ path }: { readonly path: string }) => {
    looks.push(path.split("/").at(-1) ?? "");
    const body = JSON.stringify({ kind: "Status", reason: "NotFound", details: { name: looks.at(-1) } });
    return Promise.resolve({
      status: 404,
      header: () => undefined,
      body: (async function* () {
        yield await Promise.resolve(body);
      })(),
    });
  };
  const client = new KubeClient({ transport, clock });
  const objects = new SandboxObjects({ client, clock, settings: SETTINGS, version: "v1beta1" });
  const publisher = new PhasePublisher(objects, clock);
  const taking = {
    compareAndSwap: () => Promise.resolve(true),
    delete: () => Promise.resolve(true),
  } as unknown as RecordStore;
  const store = new PublishedStore(taking, publisher, remembered);
  const write = async (name: string, message: string): Promise<void> => {
    const value = { name, phase: "Ready", reason: "DependenciesReady", message };
    await store.compareAndSwap(`id-${name}`, 1, { dueAt: null, value });
    await publisher.settled();
  };
  return { store, looks, write };
}

describe("what is remembered of records that people were told of", () => {
  it("saves looks at the resource, and is bounded when other gateways remove the records", async () => {
    const { store, looks, write } = published(100);
    for (let n = 0; n < 1000; n += 1) {
      await write(`box-${n}`, "runs");
      await write(`box-${n}`, "runs");
    }
    expect(store.remembered).toBe(100);
    expect(looks).toHaveLength(1000);
  });

  it("lets those go first that were not written for longest, and its own removals at once", async () => {
    const { store, looks, write } = published(2);
    await write("a", "runs");
    await write("b", "runs");
    await write("a", "runs");
    await write("c", "runs");
    await write("a", "runs");
    expect(looks).toEqual(["a", "b", "c"]);
    await write("b", "runs");
    expect(looks).toEqual(["a", "b", "c", "b"]);
    await store.delete("id-b", 2);
    expect(store.remembered).toBe(1);
  });
});
