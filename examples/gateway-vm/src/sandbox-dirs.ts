import type { InstanceRef, SandboxRef } from "@slipway-examples/gateway-core";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Which of two starts of one sandbox came later. */
export type Start = Pick<InstanceRef, "attemptNumber" | "run">;

export function isNewer(start: Start, than: Start): boolean {
  if (start.attemptNumber !== than.attemptNumber) return start.attemptNumber > than.attemptNumber;
  return start.run > than.run;
}

/**
 * Where one sandbox's files are. Everything of it is below one directory, so that nothing can be left elsewhere; what
 * belongs to one start is below a directory that is named after it.
 */
export class SandboxDirs {
  readonly root: string;

  constructor(dataDir: string, sandbox: Pick<SandboxRef, "id">) {
    this.root = join(sandboxesIn(dataDir), sandbox.id);
  }

  /** The disk that outlives every start. */
  get workspace(): string {
    return join(this.root, "workspace.img");
  }

  /** What is being prepared. */
  stagingOf(start: Start): string {
    return join(this.root, "staging", nameOf(start));
  }

  /** The machine of a start: its sockets, its overlay, and the note about it. */
  machineOf(start: Start): string {
    return join(this.root, "machines", nameOf(start));
  }

  /** The starts that have something staged, earliest first. */
  async staged(): Promise<readonly Start[]> {
    return startsIn(join(this.root, "staging"));
  }

  /** The starts that have a machine or what is left of one, earliest first. */
  async machines(): Promise<readonly Start[]> {
    return startsIn(join(this.root, "machines"));
  }
}

export function sandboxesIn(dataDir: string): string {
  return join(dataDir, "sandboxes");
}

function nameOf({ attemptNumber, run }: Start): string {
  return `${attemptNumber}.${run}`;
}

/** What is in a directory, in order; nothing when it is not there. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === "ENOENT") return [];
    throw error;
  });
  return names.sort();
}

async function startsIn(directory: string): Promise<readonly Start[]> {
  return (await namesIn(directory))
    .filter((name) => /^\d+\.\d+$/.test(name))
    .map((name) => {
      const [attemptNumber = 0, run = 0] = name.split(".").map(Number);
      return { attemptNumber, run };
    })
    .sort((a, b) => (isNewer(a, b) ? 1 : -1));
}
