import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { GatewayClient } from "../client/gateway-client.js";
import type { SandboxView } from "../http/view.js";
import { GatewayProcess } from "./gateway-process.js";
import { findNodeImage, type NodeImage } from "./node-image.js";
import type { Report } from "./report.js";

/** The budgets of the demo: a hundredth of what a gateway grants by default. */
export const SCALE = 100;
export const OLD_SHARED_WINDOW_MS = 300_000 / SCALE;
export const PREPARATION_MS = 1_800_000 / SCALE;
export const ADMISSION_MS = 300_000 / SCALE;
export const STALL_MS = 120_000 / SCALE;

const LIMIT_MS = 30_000;
const POLL_MS = 25;

/** What the scenes share: a gateway process on a directory of its own, a client, and this machine's Node as image. */
export class Stage {
  readonly report: Report;
  readonly image: NodeImage;
  readonly dir: string;
  readonly gateway: GatewayProcess;
  client: GatewayClient;

  private constructor(report: Report, image: NodeImage, dir: string, gateway: GatewayProcess, url: string) {
    this.report = report;
    this.image = image;
    this.dir = dir;
    this.gateway = gateway;
    this.client = new GatewayClient({ url });
  }

  static async open(report: Report): Promise<Stage> {
    const image = await findNodeImage();
    const dir = await mkdtemp(join(tmpdir(), "slipway-demo-"));
    const budgets = [
      "--preparation-ms",
      PREPARATION_MS,
      "--admission-ms",
      ADMISSION_MS,
      "--stall-ms",
      "none",
    ];
    const gateway = new GatewayProcess({ dataDir: dir, args: budgets.map(String) });
    return new Stage(report, image, dir, gateway, await gateway.start());
  }

  async restart(): Promise<void> {
    this.client = new GatewayClient({ url: await this.gateway.start() });
  }

  get dataDir(): string {
    return join(this.dir, "data");
  }

  sandboxDir(view: SandboxView): string {
    return join(this.dataDir, "sandboxes", view.id);
  }

  /** Creates a sandbox from the program alone, which is enough for what the later scenes show. */
  createSmall(name: string, fields: Record<string, unknown> = {}): Promise<SandboxView> {
    const { path, program, name: image } = this.image;
    return this.create(name, { image: { path, include: [program], name: `${image} program` }, ...fields });
  }

  /** Creates a sandbox from the Node image that runs the very program that was copied. */
  create(name: string, fields: Record<string, unknown> = {}): Promise<SandboxView> {
    const { path, include, program } = this.image;
    return this.client.create({
      name,
      image: { path, include, name: this.image.name },
      command: [`{image}/${program}`, "-e", WORKLOAD],
      ...fields,
    });
  }

  /** Polls the gateway until something is seen, and says what was seen instead when it never is. */
  async until(id: string, what: string, seen: (view: SandboxView) => boolean): Promise<SandboxView> {
    const giveUpAt = Date.now() + LIMIT_MS;
    for (;;) {
      const view = await this.client.get(id);
      if (seen(view)) return view;
      if (Date.now() > giveUpAt)
        throw new Error(`${view.name} never got to: ${what}; it is ${view.phase}/${view.reason}`);
      await delay(POLL_MS);
    }
  }

  /** The first state that has it, taken from the event stream, which also shows what lasts for a moment only. */
  async firstEvent(id: string, seen: (view: SandboxView) => boolean): Promise<SandboxView> {
    const abort = new AbortController();
    const alarm = setTimeout(() => abort.abort(), LIMIT_MS);
    try {
      for await (const view of this.client.watch(id, abort.signal)) if (seen(view)) return view;
      throw new Error(`the event stream of ${id} ended before it showed what was waited for`);
    } finally {
      clearTimeout(alarm);
      abort.abort();
    }
  }

  /** Names below a directory, none when it is not there. */
  async namesIn(path: string): Promise<string[]> {
    return readdir(path).catch(() => []);
  }

  /** Leaves nothing behind, however the demo went. */
  async close(): Promise<void> {
    await this.gateway.end("SIGKILL");
    for (const id of await this.namesIn(join(this.dataDir, "sandboxes"))) {
      const note = await readFile(join(this.dataDir, "sandboxes", id, "supervisor.json"), "utf8").catch(
        () => null,
      );
      if (note !== null) endGroup((JSON.parse(note) as { pid: number }).pid);
    }
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Says which program it is, then stays. */
const WORKLOAD = `
  require("node:fs").writeFileSync("ran-with", process.execPath + " " + process.version + " " + process.pid + "\\n");
  setInterval(() => undefined, 1000);
`;

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended already.
  }
}
