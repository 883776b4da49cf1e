import {
  observeProcess,
  type Clock,
  type ExpectedRun,
  type Observation,
  type ObservedSandbox,
  type Page,
  type WatchEvent,
} from "slipway";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Json } from "../record/json.js";
import { sleep } from "../sleep.js";
import { isAlive } from "./process-identity.js";
import { SandboxDirs } from "./sandbox-dirs.js";
import { namedLoss, seenInstance } from "./seen-instance.js";
import { readNote } from "./supervisor-process.js";

const POLL_MS = 200;
const PAGE = 200;

const handleSchema = z.object({ pid: z.int().positive(), startMarker: z.string() });

export interface ProcessObserverOptions {
  readonly clock: Clock;
  readonly dataDir: string;
  /** Whether a start of this process is preparing the sandbox's folder right now. */
  readonly isPreparing: (sandboxId: string) => boolean;
  /** Whether this process is stopping the sandbox right now. */
  readonly isStopping: (sandboxId: string) => boolean;
}

/** What there is to see of sandboxes that are local processes: their notes, and whether those processes live. */
export class ProcessObserver {
  readonly #options: ProcessObserverOptions;

  constructor(options: ProcessObserverOptions) {
    this.#options = options;
  }

  async observe(id: string, run: ExpectedRun, handle: Json | null): Promise<Observation> {
    const { clock, dataDir, isPreparing, isStopping } = this.#options;
    const observedAt = clock.now();
    const dirs = new SandboxDirs(dataDir, id);
    const exists = await isDirectory(dirs.root);
    const note = await readNote(dirs);
    // The driver takes the note away when it has ended the supervisor: a dead handle alone is a sandbox at rest.
    const handled = note === null && handle !== null && (await isAlive(handleSchema.parse(handle)));
    const instanceId = note?.instanceId ?? (handled ? (run.instanceId ?? null) : null);
    // What is being stopped is neither lost nor at rest before all of it has ended.
    const terminating = isStopping(id) && (note !== null || handled);
    const alive = terminating || handled || (note !== null && (await isAlive(note)));
    const process =
      exists && (note !== null || handled) ? { alive, exitCode: null, signal: null, instanceId } : null;
    const stateDir = { exists, bootstrapping: isPreparing(id) };
    const seen = observeProcess({ process, stateDir }, { run, observedAt });
    return seenInstance({ ...namedLoss(seen), terminating: exists && terminating }, instanceId, run);
  }

  async list(cursor: string | null): Promise<Page<ObservedSandbox>> {
    const ids = await this.#ids();
    const left = cursor === null ? ids : ids.filter((id) => id > cursor);
    const page = left.slice(0, PAGE);
    const items = await Promise.all(
      page.map(async (id) => ({ id, observation: await this.observe(id, {}, null) })),
    );
    return { items, cursor: left.length > page.length ? (page.at(-1) ?? null) : null };
  }

  /** Polled, because a supervisor that an earlier gateway process started is no child of this one. */
  async *watch(signal: AbortSignal): AsyncIterable<WatchEvent> {
    let before: ReadonlyMap<string, string> | null = null;
    while (!signal.aborted) {
      const now = await this.#states();
      for (const [id, state] of now) {
        if (before !== null && before.get(id) !== state) yield { type: "changed", id };
      }
      for (const id of before?.keys() ?? []) if (!now.has(id)) yield { type: "deleted", id };
      before = now;
      await sleep(this.#options.clock, POLL_MS, signal).catch(() => undefined);
    }
  }

  async #states(): Promise<ReadonlyMap<string, string>> {
    const states = await Promise.all(
      (await this.#ids()).map(async (id): Promise<[string, string]> => {
        const note = await readNote(new SandboxDirs(this.#options.dataDir, id));
        return [id, note === null ? "" : `${note.instanceId} ${await isAlive(note)}`];
      }),
    );
    return new Map(states);
  }

  /** No folder yet is nothing started yet; one that cannot be read is no answer. */
  async #ids(): Promise<readonly string[]> {
    const names = await readdir(join(this.#options.dataDir, "sandboxes")).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === "ENOENT") return [];
      throw error;
    });
    return names.sort();
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      if ((error as { code?: unknown }).code === "ENOENT") return false;
      throw error;
    },
  );
}
