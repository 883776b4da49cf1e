import { checkInput, type JsonObject } from "@slipway-examples/gateway-core";
import { z } from "zod";

const megabytes = z.int().max(1_048_576);

/** What a create request may say to the driver. Sizes are in units of 1 MiB; disks take room as they are written. */
const schema = z.strictObject({
  memoryMb: megabytes.min(192).default(512),
  cpus: z.int().min(1).max(64).default(1),
  /** The disk that is mounted at /workspace and outlives every start. Its size is settled by the first start. */
  workspaceMb: megabytes.min(16).default(1024),
  /** What a start may write everywhere else; it is gone after it. */
  overlayMb: megabytes.min(16).default(4096),
  /** `gateway`: the guest reaches the gateway and nothing else. `user`: also whatever this machine reaches. */
  network: z.enum(["gateway", "user"]).default("gateway"),
});

export type VmOptions = z.infer<typeof schema>;

/** @throws InvalidInputError naming the field */
export function parseVmOptions(options: JsonObject): VmOptions {
  return checkInput(schema, options, "driverOptions");
}
