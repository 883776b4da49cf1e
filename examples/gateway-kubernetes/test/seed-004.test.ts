import { seededRandom } from "slipway/testing";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { SandboxVersion } from "../src/resource/sandbox-api.js";
import type { Release } from "./cluster/index.js";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";
import { NAMESPACE } from "./kit.js";

const open: AsyncDisposable[] = [];

/** With their quirks: Ready at zero replicas, a Suspended that is never cleared, and neither. */
const RELEASES: readonly { readonly version: SandboxVersion; readonly release: Release }[] = [
  { version: "v1alpha1", release: "0.4.6" },
  { version: "v1beta1", release: "0.5.3" },
  { version: "v1beta1", release: "0.5.6" },
];

const PARTS = ["api server", "kubelet", "controller", "gateway"] as const;
/** Of the 24 orders, other ones for each release would be as good. */
const ORDERS = 6;

afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

afterAll(() => tempDirs.remove());

async function world(...args: Parameters<typeof startWorld>): ReturnType<typeof startWorld> {
  const started = await startWorld(...args);
  open.push(started);
  return started;
}

describe.each(RELEASES)(
  "seed 004 on $version of controller $release",
  { timeout: 240_000 },
  ({ version, release }) => {
    it("is startable after a dependency failure suspended it during the bootstrap", async () => {
      const it = await world(release, "cluster");
      const gateway = await it.gateway();
      // The pod runs and its supervisor hears nobody: the bootstrap is under way.
      it.replicas.splice(0);
      await it.during(gateway.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
      await it.driven.run(10_000);
      it.replicas.push(gateway);
      const claim = it.claim("box");
      const resource = it.node.handle.find("sandboxes.agents.x-k8s.io", NAMESPACE, "box")?.metadata.uid;
      const suspending = it.suspend(version, "box");
      await it.during(suspending);
      await it.driven.run(15_000);
      await it.during(gateway.core.reconcile());
      const phase = await it.phase("box");
      if (!phase.startsWith("Ready")) {
        const id = await it.id("box");
        const standing = gateway.core.standing((await it.during(gateway.core.records.read(id)))!.record);
        expect(JSON.stringify(standing)).toContain('"start"');
        await it.during(it.core().startSandbox(id));
      }
      await it.until("box", "Ready");
      expect(it.claim("box")).toBe(claim);
      expect(it.node.handle.find("sandboxes.agents.x-k8s.io", NAMESPACE, "box")?.metadata.uid).toBe(resource);
      for (const count of it.runtime.started.values()) expect(count).toBe(1);
    });

    it("is startable after a stop that a start followed at once", async () => {
      const it = await world(release, "cluster");
      await it.gateway();
      await it.during(it.core().create({ name: "box", spec: SPEC, policy: { version: 1 } }));
      await it.until("box", "Ready");
      const claim = it.claim("box");
      const id = await it.id("box");
      for (let round = 0; round < 3; round += 1) {
        const both = Promise.all([
          it.core().stopSandbox(id),
          it
            .core()
            .startSandbox(id)
            .catch(() => null),
        ]);
        await it.during(both);
        await it.driven.run(20_000);
        if (!(await it.phase("box")).startsWith("Ready")) await it.during(it.core().startSandbox(id));
        await it.until("box", "Ready");
      }
      expect(it.claim("box")).toBe(claim);
      expect(it.runtime.mostLive).toBe(1);
      for (const count of it.runtime.started.values()) expect(count).toBe(1);
    });

    it("comes back after a reboot of the node and everything on it, in whatever order", async () => {
      const random = seededRandom(4);
      const orders = shuffled(permutations(PARTS), random).slice(0, ORDERS);
      for (const [index, order] of orders.entries()) {
        await using it = await startWorld(release, "cluster", { pullMs: 4000 });
        const gateway = await it.gateway();
        await it.during(gateway.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
        // In the middle of the bootstrap, or of the work.
        if (index % 2 === 0) await it.driven.run(500 + random() * 4000);
        else await it.until("box", "Ready");
        const claim = it.claim("box");
        await it.kill(gateway);
        it.node.controller.stop();
        it.node.kubelet.stop();
        await it.server.close();
        it.node.kubelet.reboot(5000);
        await it.driven.run(6000);
        it.node.kubelet.stop();
        // A gateway without an API server ends, and is started again until there is one: it is up when both are.
        const last = order.indexOf("api server") > order.indexOf("gateway") ? "api server" : "gateway";
        for (const part of order) {
          await it.driven.run(random() * 20_000);
          if (part === "api server") await it.server.listen();
          else if (part === "kubelet") it.node.kubelet.start();
          else if (part === "controller") it.node.controller.start();
          if (part === last) await it.gatewayAtLast();
        }
        await it.driven.run(60_000);
        const phase = await it.phase("box");
        if (!phase.startsWith("Ready")) await it.during(it.core().startSandbox(await it.id("box")));
        await it.until("box", "Ready");
        expect(it.claim("box"), order.join(", ")).toBe(claim);
        expect(it.runtime.mostLive).toBe(1);
        for (const count of it.runtime.started.values()) expect(count).toBe(1);
      }
    });
  },
);

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((one, two) => one.order - two.order)
    .map(({ item }) => item);
}
