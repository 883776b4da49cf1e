import { InvalidInputError, type DriverContext } from "@slipway-examples/gateway-core";
import { DockerDriver } from "./docker-driver.js";
import { connectEngine } from "./engine.js";
import { gatewayMark } from "./gateway-mark.js";
import { GatewaySocket } from "./gateway-socket.js";

export interface DockerDriversOptions {
  /** As `DOCKER_HOST` spells it. Default: as Docker's own command line finds its engine. */
  readonly dockerHost?: string | undefined;
  /** The engine's network for sandboxes. Default `host` without a socket, `none` with one. */
  readonly network?: string | undefined;
  /** Let sandboxes reach the gateway by a socket that is mounted into them. Needs an engine on this machine. */
  readonly socket?: boolean | undefined;
  readonly init?: boolean | undefined;
  readonly stopGraceMs?: number | undefined;
}

/** The Docker driver of a gateway, with what it keeps in the gateway's folder. */
export function dockerDrivers(
  options: DockerDriversOptions = {},
): (context: DriverContext) => Promise<readonly DockerDriver[]> {
  return async ({ clock, dataDir }) => {
    const { dockerHost, init, socket = false, stopGraceMs } = options;
    const network = options.network ?? (socket ? "none" : "host");
    const docker = connectEngine(dockerHost);
    const gateway = await gatewayMark(dataDir);
    // Last, when nothing can fail any more: from here on it is the driver's to close.
    const door = socket ? await GatewaySocket.open(dataDir) : undefined;
    return [new DockerDriver({ docker, gateway, clock, network, door, init, stopGraceMs })];
  };
}

/** Settings of the environment, for the command line. */
export function optionsFromEnvironment(env: NodeJS.ProcessEnv): DockerDriversOptions {
  const flag = (name: string): boolean | undefined => {
    const value = env[name];
    if (value === undefined || value === "") return undefined;
    if (value !== "0" && value !== "1") throw new InvalidInputError(name, "0 or 1", value);
    return value === "1";
  };
  return {
    network: env["SLIPWAY_DOCKER_NETWORK"],
    socket: flag("SLIPWAY_DOCKER_SOCKET"),
    init: flag("SLIPWAY_DOCKER_INIT"),
  };
}
