import { frozen } from "../catalog/frozen.js";
import type { ReasonCatalog } from "../catalog/reason-catalog.js";
import { sandboxTypes } from "./condition-types.js";
import { containerReasons } from "./container-reasons.js";
import { sandboxEmissions } from "./emissions.js";
import { lifecycleReasons } from "./lifecycle-reasons.js";
import { machineReasons } from "./machine-reasons.js";
import { provisioningReasons } from "./provisioning-reasons.js";
import type { KnownReason } from "./reasons.js";
import { workloadEndReasons } from "./workload-end-reasons.js";

/**
 * The built-in catalog: the reasons of a sandbox's life on VMs, Kubernetes and Docker or Podman.
 *
 * Contract 1 is what consumers match today. Contract 2 adds `IsolationBackendMismatch`, which a reader of contract 1
 * sees as the timeout that it is a case of, where the writer says that there was one.
 *
 * @public
 */
export const sandboxReasons: ReasonCatalog<KnownReason, keyof typeof sandboxTypes> = /* @__PURE__ */ frozen({
  name: "sandbox",
  contract: 2,
  types: sandboxTypes,
  reasons: {
    ...lifecycleReasons,
    ...provisioningReasons,
    ...containerReasons,
    ...workloadEndReasons,
    ...machineReasons,
  },
  emits: sandboxEmissions,
});
