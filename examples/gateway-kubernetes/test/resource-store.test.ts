import { systemClock } from "slipway";
import { describe, it } from "vitest";
import { recordStoreConformance } from "../../gateway-core/test/record-store-conformance.js";
import { ResourceStore } from "../src/store/resource-store.js";
import { AGAINST, startOnAnyServer } from "./any-server-kit.js";

describe(`the store of custom resources does what every record store must, against ${AGAINST}`, () => {
  for (const { name, run } of recordStoreConformance) {
    it(name, async () => {
      await using on = await startOnAnyServer();
      const { namespace } = on;
      const open: ResourceStore[] = [];
      try {
        await run(() => {
          const client = on.client();
          const store = new ResourceStore({ client, clock: systemClock, namespace, gateway: "gw" });
          open.push(store);
          return Promise.resolve(store);
        });
      } finally {
        await Promise.all(open.map((store) => store.close()));
      }
    });
  }
});
