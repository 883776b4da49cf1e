import { extendCatalog, sandboxReasons } from "slipway/conditions";

const onReady = { types: ["Ready"] } as const;

/** The reasons of this gateway: the catalog of sandboxes, and what only a driver of local processes can find. */
export const gatewayReasons = extendCatalog(sandboxReasons, {
  name: "example-gateway",
  prefix: "Local",
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
    LocalDriverFailed: {
      ...onReady,
      class: "transient",
      summary: "The driver failed and tries again within the deadline.",
      action: "Wait, or look at the message.",
    },
  },
});
