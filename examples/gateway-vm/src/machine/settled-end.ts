import { sleep } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { readEnd, writeEnd, type MachineEnd } from "./machine-note.js";

/** About a second, told by looks: a gateway that was held up for longer has not heard of the end meanwhile either. */
const LOOKS = 20;
const AGAIN_MS = 50;

/**
 * How a machine ended whose process is gone. Whoever started it hears of that by another way than everybody else, which
 * may be later, and writes it down then. Once nobody can be expected to know any more, as after a restart of the gateway,
 * that is written down instead: every later look says the same, and does not wait.
 */
export async function settledEnd(directory: string, clock: Clock): Promise<MachineEnd | null> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const end = await readEnd(directory);
    if (end !== null) return end;
    await sleep(clock, AGAIN_MS);
  }
  // What cannot be written down is looked for again by the next look.
  await writeEnd(directory, { process: { exitCode: null, signal: null } }).catch(() => undefined);
  return readEnd(directory);
}
