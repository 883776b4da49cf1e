import { frozen } from "../catalog/frozen.js";
import type { ReasonCatalog } from "../catalog/reason-catalog.js";
import { backendReasons } from "./backend-reasons.js";
import { sandboxTypes } from "./condition-types.js";
import { sandboxEmissions } from "./emissions.js";
import { gatewayReasons } from "./gateway-reasons.js";
import type { KnownReason } from "./reasons.js";

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
  reasons: { ...gatewayReasons, ...backendReasons },
  emits: sandboxEmissions,
});
