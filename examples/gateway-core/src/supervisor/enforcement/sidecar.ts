import { z } from "zod";
import { EnforcingProxy } from "./proxy.js";

/** The word that makes the supervisor's program run as the sidecar. */
export const SIDECAR_WORD = "enforcement";

const applySchema = z.object({ allow: z.array(z.string()).nullable(), revision: z.int() });

export type ApplyMessage = z.infer<typeof applySchema>;

/** Runs the proxy until the supervisor, at the other end of the channel, ends it or dies, whoever else asks it to end. */
export async function runSidecar(): Promise<void> {
  if (process.send === undefined) throw new Error("the enforcement sidecar is started by a supervisor");
  const proxy = new EnforcingProxy();
  process.on("disconnect", () => process.exit(0));
  // Meant for the workload beside it, which may need the network for its end: the supervisor ends it after that.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.on("message", (message) => {
    const { allow, revision } = applySchema.parse(message);
    proxy.goBy(allow, revision);
  });
  const port = await proxy.listen();
  process.send({ port });
}
