import { z } from "zod";
import { EnforcingProxy } from "./proxy.js";

/** The word that makes the supervisor's program run as the sidecar. */
export const SIDECAR_WORD = "enforcement";

const applySchema = z.object({ allow: z.array(z.string()).nullable(), revision: z.int() });

export type ApplyMessage = z.infer<typeof applySchema>;

/** Runs the proxy until the supervisor, at the other end of the channel, lets go of it or dies. */
export async function runSidecar(): Promise<void> {
  if (process.send === undefined) throw new Error("the enforcement sidecar is started by a supervisor");
  const proxy = new EnforcingProxy();
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message) => {
    const { allow, revision } = applySchema.parse(message);
    proxy.goBy(allow, revision);
  });
  const port = await proxy.listen();
  process.send({ port });
}
