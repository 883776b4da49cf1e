import { PermanentDriverError } from "@slipway-examples/gateway-core";
import { extendCatalog, sandboxReasons } from "slipway/conditions";

const onReady = { types: ["Ready"], class: "terminal", phases: ["Error"] } as const;

/** The catalog of sandboxes, and what only this driver can find. */
export const vmReasons = extendCatalog(sandboxReasons, {
  name: "example-gateway-vm",
  prefix: "Machine",
  reasons: {
    MachineImageNotFound: {
      ...onReady,
      summary: "The local Docker engine has no such image, or there is no archive at that path.",
      action: "Build or load the image, or correct its name; then start the sandbox again.",
    },
    MachineImageUnusable: {
      ...onReady,
      summary: "The archive is not a complete tar of a root filesystem.",
      action: "Make the archive again, then start the sandbox again.",
    },
    MachineSupervisorMissing: {
      ...onReady,
      summary: "The image has no node or no supervisor, so nothing in the guest could talk to the gateway.",
      action: "Build the image on scripts/engines/sandbox-image.sh, or copy node and /opt/slipway from it.",
    },
    MachineGuestMissing: {
      ...onReady,
      summary: "This machine has no kernel for guests.",
      action: "Make it with scripts/engines/vm-kernel.sh, then start the sandbox again.",
    },
    MachineStartUnusable: {
      ...onReady,
      summary:
        "What the guest has to be told cannot be told: the gateway's address, a line break, or too long a command.",
      action: "Read the message.",
    },
  },
});

type MachineReason = Extract<keyof typeof vmReasons.reasons, `Machine${string}`>;

/** A failure that trying again cannot mend, by its reason in the catalog. */
export function permanent(reason: MachineReason, message: string, cause?: unknown): PermanentDriverError {
  return new PermanentDriverError(reason, message, { cause });
}
