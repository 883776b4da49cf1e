import type { ImageSpec } from "@slipway-examples/gateway-core";
import { posix } from "node:path";
import { z } from "zod";
import { runTool } from "../run-tool.js";
import { permanent } from "../reasons.js";
import { accountOf, accountSchema, type Account, type ImageConfig } from "./image-config.js";

const SUPERVISOR = "/opt/slipway/supervisor.mjs";
const NODES = ["/usr/local/bin/node", "/usr/bin/node", "/opt/slipway/node"] as const;
const PASSWD = "/etc/passwd";
const GROUP = "/etc/group";

export const contentSchema = z.object({
  node: z.string(),
  supervisor: z.string(),
  env: z.array(z.string()),
  /** `null`: the image names none. */
  workdir: z.string().nullable(),
  /** `null`: root. */
  account: accountSchema.nullable(),
});

/** What a guest has to know of its root file system. */
export type ImageContent = z.infer<typeof contentSchema>;

/**
 * Looks into a root file system for the supervisor and for the user whom the image names: what it lacks is told at
 * once, and not by a silent guest.
 */
export async function lookInside(
  rootfs: string,
  image: ImageSpec,
  config: ImageConfig,
  signal: AbortSignal,
): Promise<ImageContent> {
  const names = [SUPERVISOR, ...NODES, PASSWD, GROUP].map((path) => path.slice(1));
  const listing = await runTool("unsquashfs", ["-quiet", "-no-progress", "-ls", rootfs, ...names], signal);
  const found = new Set(listing.split("\n").map((line) => line.replace(/^squashfs-root/, "").trim()));
  const node = NODES.find((path) => found.has(path));
  const missing = [...(found.has(SUPERVISOR) ? [] : [SUPERVISOR]), ...(node === undefined ? ["node"] : [])];
  if (node === undefined || missing.length > 0) {
    const text = `The image ${image.name} has no supervisor: it lacks ${missing.join(" and ")}`;
    throw permanent("MachineSupervisorMissing", text);
  }
  const read = async (path: string): Promise<string> =>
    found.has(path) ? runTool("unsquashfs", ["-quiet", "-cat", rootfs, path.slice(1)], signal) : "";
  let account: Account | null = null;
  if (!["", "root", "0", "root:root", "0:0"].includes(config.user)) {
    account = accountOf(config.user, await read(PASSWD), await read(GROUP));
    if (account === null) {
      const text = `The image ${image.name} names the user ${config.user}, whom it does not have`;
      throw permanent("MachineImageUnusable", text);
    }
  }
  const { env, workdir } = config;
  const where = workdir === "" ? null : posix.resolve("/", workdir);
  return { node, supervisor: SUPERVISOR, env: [...env], workdir: where, account };
}
