import type { LaunchRequest } from "@slipway-examples/gateway-core";
import type { ImageContent } from "../image/look-inside.js";
import { permanent } from "../reasons.js";

/** Where the guest's first program puts the initramfs's. */
const BUSYBOX = "/run/slipway/busybox";

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
export function startLines(request: LaunchRequest, image: ImageContent): string {
  const { access, command, instance, sandbox } = request;
  const { account, workdir } = image;
  const variables = {
    SLIPWAY_GATEWAY_URL: access.url,
    SLIPWAY_TOKEN: access.token,
    SLIPWAY_SANDBOX: sandbox.id,
    SLIPWAY_RUN: String(instance.run),
    SLIPWAY_COMMAND: JSON.stringify([
      ...asImageSays(image),
      ...command.map((word) => word.replaceAll("{image}", "")),
    ]),
    SLIPWAY_ENTER: Buffer.from(enterScript(image)).toString("base64"),
    ...(workdir !== null && { SLIPWAY_WORKDIR: workdir }),
    ...(account !== null && { SLIPWAY_OWNER: `${account.uid}:${account.gid}` }),
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

/** In front of the main process's command: what brings it where the image wants it, and makes it whom it wants. */
function asImageSays({ account, workdir }: ImageContent): readonly string[] {
  if (account === null && workdir === null) return [];
  const who = account === null ? [] : ["-S", String(account.uid), "-G", String(account.gid)];
  return [BUSYBOX, "nsenter", "-F", `-w${workdir ?? "/workspace"}`, ...who];
}

/**
 * What gives the supervisor, and with it the main process, the image's environment: as words of a script, because a
 * value may have line breaks in it and a name may be none for a shell. Our own variables are not the image's to set.
 */
function enterScript({ account, env }: ImageContent): string {
  const own = env.filter((entry) => /^[^=]+=/.test(entry) && !entry.startsWith("SLIPWAY_"));
  const home = account === null ? [] : [`HOME=${account.home}`];
  const words = [...home, ...own].map((entry) => `'${entry.replaceAll("'", `'\\''`)}'`);
  return `cd /workspace && exec ${[BUSYBOX, "env", "--", ...words].join(" ")} "$@"\n`;
}
