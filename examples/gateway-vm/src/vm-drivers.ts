import { InvalidInputError, type DriverContext } from "@slipway-examples/gateway-core";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { VmDriver, type VmDriverOptions } from "./vm-driver.js";

const ACCELERATORS = ["auto", "kvm", "tcg"] as const;

/** The virtual-machine driver of a gateway, with what it keeps in the gateway's folder. */
export function vmDrivers(options: Omit<VmDriverOptions, "dataDir">): (context: DriverContext) => VmDriver[] {
  return ({ clock, dataDir }) => [new VmDriver({ clock, ...options, dataDir: join(dataDir, "vm") })];
}

/**
 * Settings of the environment, for the command line: `SLIPWAY_VM_GUEST`, `SLIPWAY_VM_ACCELERATOR`,
 * `SLIPWAY_VM_IMAGE_CACHE_MB` and `DOCKER_HOST`.
 *
 * @throws InvalidInputError naming the variable
 */
export function optionsFromEnvironment(env: NodeJS.ProcessEnv): Omit<VmDriverOptions, "dataDir"> {
  const asked = env["SLIPWAY_VM_ACCELERATOR"] ?? "auto";
  const accelerator = ACCELERATORS.find((word) => word === asked);
  if (accelerator === undefined) {
    throw new InvalidInputError("SLIPWAY_VM_ACCELERATOR", `one of ${ACCELERATORS.join(", ")}`, asked);
  }
  const host = env["DOCKER_HOST"] ?? "";
  if (host !== "" && !host.startsWith("unix://")) {
    throw new InvalidInputError(
      "DOCKER_HOST",
      "a unix:// address: an export over a network is a second copy",
      host,
    );
  }
  const cache = env["SLIPWAY_VM_IMAGE_CACHE_MB"] ?? "";
  if (!/^\d{0,9}$/.test(cache)) {
    throw new InvalidInputError("SLIPWAY_VM_IMAGE_CACHE_MB", "a whole number of MiB", cache);
  }
  const guestDir = env["SLIPWAY_VM_GUEST"];
  return {
    guestDir: guestDir === undefined ? DEFAULT_GUEST : resolve(guestDir),
    dockerSocket: host === "" ? undefined : host.slice("unix://".length),
    accelerator,
    imageCacheMb: cache === "" ? undefined : Number(cache),
  };
}

/** In the project's folder, where its scripts put it. */
const DEFAULT_GUEST = fileURLToPath(new URL("../../../.slipway/vm-guest", import.meta.url));
