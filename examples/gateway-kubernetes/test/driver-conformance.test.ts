import { driverSubject } from "@slipway-examples/gateway-core/testing";
import { observationSourceConformance } from "slipway/testing";
import { describe, it } from "vitest";
import { SANDBOX_VERSIONS } from "../src/resource/sandbox-api.js";
import { launchRequest, RELEASE_OF, startDriver } from "./driver-kit.js";

describe.each(SANDBOX_VERSIONS)("the Kubernetes driver of %s", (version) => {
  for (const { name, run } of observationSourceConformance) {
    it(name, async () => {
      await using at = await startDriver(RELEASE_OF[version]);
      const { driver, during } = at;
      const { image, command, options, access } = launchRequest(1);
      await run(() => driverSubject({ driver, during, request: { image, command, options, access } }));
    });
  }
});
