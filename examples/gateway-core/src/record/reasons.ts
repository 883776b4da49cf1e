import { extendCatalog, sandboxReasons } from "slipway/conditions";

const onReady = { types: ["Ready"] } as const;

/** The reasons of this gateway: the catalog of sandboxes, and what only a driver of local processes can find. */
export const gatewayReasons = extendCatalog(sandboxReasons, {
  name: "example-gateway",
  prefix: "Local",
  types: {
    LocalEnforced: {
      polarity: "positive",
      presence: "once-reached",
      summary: "The proxy that enforces the network policy runs. In the list once it was lost.",
    },
  },
  reasons: {
    LocalImageNotFound: {
      ...onReady,
      class: "terminal",
      summary: "The image, or a part of it that was asked for, is not on this machine.",
      action: "Correct the path and start the sandbox again.",
    },
    LocalImageUnusable: {
      ...onReady,
      class: "terminal",
      summary: "The image is no readable archive or directory, or it leads outside itself.",
      action: "Repair the image and start the sandbox again.",
    },
    LocalImageTooLarge: {
      ...onReady,
      class: "terminal",
      summary: "The image is larger than the driver takes.",
      action: "Use a smaller image, or include less of it.",
    },
    LocalCommandTooLong: {
      ...onReady,
      class: "terminal",
      summary: "The command and its environment are longer than the system takes.",
      action: "Shorten them.",
    },
    LocalSupervisorLost: {
      ...onReady,
      class: "terminal",
      summary: "The supervisor ended without reporting an exit; its main process was ended with it.",
      action: "Start the sandbox again.",
    },
    LocalActivationUncertain: {
      types: ["Ready", "Bootstrapped"],
      class: "terminal",
      summary:
        "The supervisor ended, or failed, while it started the main process: nobody knows whether it ran.",
      action: "Look at the workspace, then start the sandbox again. It is never started again by itself.",
    },
    LocalEnforcementLost: {
      types: ["LocalEnforced"],
      class: "transient",
      summary:
        "The proxy that enforces the network policy is gone. Nothing gets through it; the main process runs on.",
      action: "Stop the sandbox and start it again.",
    },
    LocalDriverFailed: {
      ...onReady,
      class: "transient",
      summary: "The driver failed and tries again within the deadline.",
      action: "Wait, or look at the message.",
    },
  },
});
