import { isNewer, type SandboxDirs, type Start } from "./sandbox-dirs.js";

/** An ordinary failure, and no permanent one: nothing is wrong with what was asked for. */
export class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}

/**
 * Stops a start that another one has overtaken: the gateway that asked for it lost its lease and does not know yet.
 * It must not end what the newer one started.
 */
export async function refuseOvertaken(dirs: SandboxDirs, start: Start): Promise<void> {
  const newer = (await dirs.machines()).find((other) => isNewer(other, start));
  if (newer === undefined) return;
  const by = `run ${newer.run} of attempt ${newer.attemptNumber}`;
  throw new OvertakenError(`run ${start.run} of attempt ${start.attemptNumber} was overtaken by ${by}`);
}
