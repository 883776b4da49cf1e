import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { TOOL_ENV } from "../run-tool.js";
import { probeArguments, type Accelerator } from "./qemu-arguments.js";

const PROBE_LIMIT_MS = 10_000;

/**
 * What to run guests with: KVM where a guest really comes up with it, else QEMU's own translator. That the device is
 * there and opens proves nothing: nested in some hypervisors, guests hang in their first instructions.
 */
export async function usableAccelerator(qemu: string, kernel: string, initrd: string): Promise<Accelerator> {
  const opens = await access("/dev/kvm", constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  return opens && (await boots(qemu, probeArguments("kvm", kernel, initrd))) ? "kvm" : "tcg";
}

async function boots(qemu: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(qemu, args, {
    stdio: "ignore",
    env: TOOL_ENV,
    timeout: PROBE_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
}
