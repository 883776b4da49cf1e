import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { GatewayClient } from "../src/client/gateway-client.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import { eventually } from "../src/testing/eventually.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const IMAGE_BYTES = 2_000_000;

/** A real gateway with real processes behind the page, with an image for its sandboxes. */
export class PageGateway {
  readonly gateway: GatewayProcess;
  readonly client: GatewayClient;
  readonly url: string;
  readonly image: string;

  private constructor(gateway: GatewayProcess, url: string, image: string) {
    this.gateway = gateway;
    this.client = new GatewayClient({ url });
    this.url = url;
    this.image = image;
  }

  static async open(): Promise<PageGateway> {
    const dir = await tempDir();
    const image = join(dir, "image");
    await directoryImage(image, IMAGE_BYTES);
    const gateway = new GatewayProcess({ dataDir: dir, args: [], cli });
    return new PageGateway(gateway, await gateway.start(), image);
  }

  async close(): Promise<void> {
    const { client } = this;
    for (const { id } of (await client.list({ limit: 500 })).items) await client.delete(id);
    await eventually("nothing left", async () => (await client.list()).items.length === 0);
    await this.gateway.end("SIGTERM");
  }

  create(name: string, fields: object = {}): Promise<{ readonly id: string }> {
    return this.client.create({ name, image: { path: this.image }, command: ["sleep", "600"], ...fields });
  }

  /** At work on its image, and kept there. */
  held(name: string, fields: object = {}): Promise<{ readonly id: string }> {
    const driverOptions = { fault: { stallAtBytes: IMAGE_BYTES / 2 } };
    return this.create(name, { driverOptions, ...fields });
  }
}

export const phaseOf = (page: Page) => page.locator("#detail-phase");
export const operation = (page: Page, name: string) =>
  page.getByRole("region", { name: "What may be done next" }).getByRole("button", { name, exact: true });
