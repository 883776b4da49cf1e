import { extendCatalog, sandboxReasons } from "slipway/conditions";

const onReady = { types: ["Ready"], class: "terminal", phases: ["Error"] } as const;

/** The catalog of sandboxes, and what only this driver can find. */
export const dockerReasons = extendCatalog(sandboxReasons, {
  name: "example-gateway-docker",
  prefix: "Docker",
  reasons: {
    DockerSupervisorMissing: {
      ...onReady,
      refines: ["ContainerStartFailed"],
      summary: "The image has no supervisor, so nothing in the container could talk to the gateway.",
      action: "Build the image on the sandbox image, or copy /opt/slipway and node from it.",
    },
    DockerArchiveUnusable: {
      ...onReady,
      summary: "The archive is not on this machine, or the engine cannot read it as a root filesystem.",
      action: "Correct the path or make the archive again, then start the sandbox again.",
    },
  },
});
