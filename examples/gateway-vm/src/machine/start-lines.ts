import type { LaunchRequest } from "@slipway-examples/gateway-core";
import type { CachedImage } from "../image/image-cache.js";
import { permanent } from "../reasons.js";

const LOOPBACK = new Set(["127.0.0.1", "localhost"]);

/** The kernel takes no longer word into the environment of a program. */
const MAX_LINE_BYTES = 131_000;

/** Where the gateway is, as this machine sees it: the one address that every guest reaches. */
export function gatewayOf({ url }: LaunchRequest["access"]): {
  readonly host: string;
  readonly port: number;
} {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" || !LOOPBACK.has(hostname)) {
    const text = `A guest reaches a gateway on this machine's loopback by plain HTTP, not ${url}`;
    throw permanent("MachineStartUnusable", text);
  }
  return { host: "127.0.0.1", port: port === "" ? 80 : Number(port) };
}

/** What the guest is told about its start, one variable a line. It holds the attempt's token. */
export function startLines(request: LaunchRequest, image: CachedImage): string {
  const { access, command, instance, sandbox } = request;
  const variables = {
    SLIPWAY_GATEWAY_URL: access.url,
    SLIPWAY_TOKEN: access.token,
    SLIPWAY_SANDBOX: sandbox.id,
    SLIPWAY_RUN: String(instance.run),
    SLIPWAY_COMMAND: JSON.stringify(command.map((word) => word.replaceAll("{image}", ""))),
    SLIPWAY_NODE: image.node,
    SLIPWAY_SUPERVISOR: image.supervisor,
    SLIPWAY_RELAY_PORT: String(gatewayOf(access).port),
    SLIPWAY_HOSTNAME: sandbox.name.replaceAll(/[^A-Za-z0-9-]/g, "-").slice(0, 63),
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  const broken = lines.find((line) => /[\n\0]/.test(line.slice(0, -1)));
  if (broken !== undefined) {
    throw permanent("MachineStartUnusable", `${broken.split("=")[0] ?? ""} has a line break in it`);
  }
  const long = lines.find((line) => Buffer.byteLength(line) > MAX_LINE_BYTES);
  if (long !== undefined) {
    throw permanent("MachineStartUnusable", `${long.split("=")[0] ?? ""} is longer than a program takes`);
  }
  return lines.join("");
}
