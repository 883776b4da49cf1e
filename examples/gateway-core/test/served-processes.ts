import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GatewayClient } from "../src/client/gateway-client.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import type { SandboxView } from "../src/http/view.js";
import { eventually } from "../src/testing/eventually.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";

/** The gateway's program, as it is built. */
export const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
/** A policy that supervisors reject. */
export const INVALID = { version: 1, network: { allow: ["nowhere"] } };

/** Gateways that are processes of their own, on one folder, with an image for their sandboxes. */
export class ServedProcesses {
  readonly dir: string;
  readonly image: string;
  readonly #gateways: GatewayProcess[] = [];

  private constructor(dir: string, image: string) {
    this.dir = dir;
    this.image = image;
  }

  static async open(): Promise<ServedProcesses> {
    const dir = await tempDir();
    const image = join(dir, "image");
    await directoryImage(image, 400_000);
    return new ServedProcesses(dir, image);
  }

  async end(): Promise<void> {
    await Promise.all(this.#gateways.splice(0).map((gateway) => gateway.end("SIGKILL")));
  }

  /** @param args - Of `serve`. */
  async start(
    ...args: readonly string[]
  ): Promise<{ gateway: GatewayProcess; url: string; client: GatewayClient }> {
    const gateway = new GatewayProcess({ dataDir: this.dir, args, cli });
    this.#gateways.push(gateway);
    const url = await gateway.start();
    return { gateway, url, client: new GatewayClient({ url }) };
  }
}

/** Waits until a sandbox is seen so. */
export async function until(
  client: GatewayClient,
  id: string,
  seen: (view: SandboxView) => boolean,
): Promise<SandboxView> {
  return eventually(`what ${id} should become`, async () => {
    const view = await client.get(id);
    return seen(view) && view;
  });
}

/** Deletes every sandbox, and waits until none is left. */
export async function removeAll(client: GatewayClient): Promise<void> {
  for (const { id } of (await client.list()).items) await client.delete(id);
  await eventually("nothing left", async () => (await client.list()).items.length === 0);
}
