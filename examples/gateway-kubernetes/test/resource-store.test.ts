import { describe, it } from "vitest";
import { recordStoreConformance } from "../../gateway-core/test/record-store-conformance.js";
import { ResourceStore } from "../src/store/resource-store.js";
import { NAMESPACE, startCluster, type Api } from "./kit.js";

function openStore(cluster: Api): ResourceStore {
  return new ResourceStore({
    client: cluster.client(),
    clock: cluster.clock,
    namespace: NAMESPACE,
    gateway: "gw",
  });
}

describe("the store of custom resources does what every record store must", () => {
  for (const { name, run } of recordStoreConformance) {
    it(name, async () => {
      await using cluster = await startCluster();
      const open: ResourceStore[] = [];
      try {
        await run(() => {
          const store = openStore(cluster);
          open.push(store);
          return Promise.resolve(store);
        });
      } finally {
        await Promise.all(open.map((store) => store.close()));
      }
    });
  }
});
