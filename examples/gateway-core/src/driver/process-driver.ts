import type { Clock, ExpectedRun, Observation, ObservedSandbox, Page, WatchEvent } from "slipway";
import { chmod, readdir, rm, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { InvalidInputError } from "../input-error.js";
import type { Json, JsonObject } from "../record/json.js";
import type { ImageSpec } from "../record/record.js";
import { BusySet } from "./busy-set.js";
import type { Driver, LaunchContext, LaunchRequest, SandboxRef, Start, WorkContext } from "./driver.js";
import { prepareImage } from "./prepare-image.js";
import { endProcesses } from "./process-group.js";
import { ProcessObserver } from "./process-observer.js";
import { parseProcessOptions } from "./process-options.js";
import { isNewer, removeStaging, SandboxDirs } from "./sandbox-dirs.js";
import { markedProcesses } from "./sandbox-mark.js";
import { readNote, refuseOvertaken, startSupervisor } from "./supervisor-process.js";
import { entrySegments } from "./image/safe-path.js";

const DEFAULT_STOP_GRACE_MS = 2000;
const CLEANUP_GRACE_MS = 200;

export interface ProcessDriverOptions {
  readonly clock: Clock;
  readonly dataDir: string;
  /** The supervisor program, a JavaScript file. */
  readonly supervisorProgram: string;
  readonly maxImageBytes?: number | undefined;
}

/** A sandbox is a local child process in a directory of its own; an image is a directory or a tar archive. */
export class ProcessDriver implements Driver {
  readonly name = "process";
  readonly findsByData = true;
  readonly #clock: Clock;
  readonly #dataDir: string;
  readonly #program: string;
  readonly #maxBytes: number;
  readonly #observer: ProcessObserver;
  readonly #preparing = new BusySet();
  readonly #stopping = new BusySet();

  constructor(options: ProcessDriverOptions) {
    this.#clock = options.clock;
    this.#dataDir = options.dataDir;
    this.#program = options.supervisorProgram;
    this.#maxBytes = options.maxImageBytes ?? 8_000_000_000;
    const { clock, dataDir } = options;
    this.#observer = new ProcessObserver({
      clock,
      dataDir,
      isPreparing: (id) => this.#preparing.has(id),
      isStopping: (id) => this.#stopping.has(id),
    });
  }

  async check(image: ImageSpec, options: JsonObject): Promise<void> {
    parseProcessOptions(options);
    const { path } = image;
    if (path === undefined || !isAbsolute(path))
      throw new InvalidInputError("image.path", "an absolute path", path);
    const found = await stat(path).catch(() => null);
    if (found === null || !(found.isDirectory() || found.isFile())) {
      throw new InvalidInputError("image.path", "a directory or an archive that exists", path);
    }
    for (const [index, part] of (image.include ?? []).entries()) {
      try {
        if (entrySegments(part).length > 0) continue;
      } catch {
        // Said below with the field's name.
      }
      throw new InvalidInputError(`image.include[${index}]`, "a path below the image", part);
    }
  }

  launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    return this.#preparing.during(request.sandbox.id, () => this.#launch(request, context));
  }

  async #launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    const options = parseProcessOptions(request.options);
    const dirs = this.#dirs(request.sandbox);
    const deaf = new DeafSignal(context.signal, options.fault?.deafForMs ?? 0, this.#clock);
    const prepare = {
      clock: this.#clock,
      signal: deaf.signal,
      maxBytes: this.#maxBytes,
      report: context.report,
    };
    await refuseOvertaken(dirs, request.instance);
    await prepareImage(request, dirs, options, prepare);
    context.signal.throwIfAborted();
    await refuseOvertaken(dirs, request.instance);
    // A supervisor of an earlier run would be refused by the gateway; ending it here is only tidier.
    await this.#end(request.sandbox, CLEANUP_GRACE_MS, context.signal, request.instance);
    const identity = await startSupervisor(request, dirs, this.#program);
    const started = { step: "supervisor", label: "Supervisor started", subject: `pid ${identity.pid}` };
    context.report({ ...started, unit: "none", done: true });
    return { ...identity };
  }

  observe(sandbox: SandboxRef, run: ExpectedRun, handle: Json | null): Promise<Observation> {
    return this.#observer.observe(sandbox.id, run, handle);
  }

  list(cursor: string | null): Promise<Page<ObservedSandbox>> {
    return this.#observer.list(cursor);
  }

  watch({ signal }: WorkContext): AsyncIterable<WatchEvent> {
    return this.#observer.watch(signal);
  }

  stop(sandbox: SandboxRef, { signal, upTo }: WorkContext): Promise<void> {
    return this.#stopping.during(sandbox.id, () => this.#end(sandbox, DEFAULT_STOP_GRACE_MS, signal, upTo));
  }

  async cleanUp(sandbox: SandboxRef, { signal, upTo }: WorkContext): Promise<void> {
    const dirs = this.#dirs(sandbox);
    await this.#end(sandbox, CLEANUP_GRACE_MS, signal, upTo);
    if (upTo === undefined) await rm(dirs.staging, { recursive: true, force: true });
    else await removeStaging(dirs, upTo);
  }

  async remove(sandbox: SandboxRef, { signal }: WorkContext): Promise<void> {
    const dirs = this.#dirs(sandbox);
    await this.#end(sandbox, CLEANUP_GRACE_MS, signal);
    await removeTree(dirs.root);
  }

  #dirs(sandbox: SandboxRef): SandboxDirs {
    return new SandboxDirs(this.#dataDir, sandbox.id);
  }

  /** Ends whatever runs for the sandbox, of the starts up to the given one. */
  async #end(sandbox: SandboxRef, graceMs: number, signal: AbortSignal, upTo?: Start): Promise<void> {
    const dirs = this.#dirs(sandbox);
    const noted = await readNote(dirs);
    const leader = noted !== null && upTo !== undefined && isNewer(noted, upTo) ? null : noted;
    const marked = () => markedProcesses(sandbox, dirs, upTo);
    await endProcesses({ leader, marked }, { clock: this.#clock, signal, graceMs });
    // A newer start may have left its own note, now or meanwhile.
    if (leader !== null && (await readNote(dirs))?.pid === leader.pid)
      await rm(dirs.identity, { force: true });
  }
}

/** Removes a tree also when a workload took the rights to its directories from us. */
async function removeTree(root: string): Promise<void> {
  const remove = () => rm(root, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async (error: unknown) => {
    const { code } = error as { code?: unknown };
    if (code !== "EACCES" && code !== "EPERM") throw error;
    await openDirectories(root);
    await remove();
  });
}

/** Makes directories accessible to their owner, and follows no link. */
async function openDirectories(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(join(directory, entry.name));
  }
}

/** A signal that passes an abort on late: the fault of a driver that does not listen. */
class DeafSignal {
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal, deafForMs: number, clock: Clock) {
    if (deafForMs === 0) {
      this.signal = signal;
      return;
    }
    const controller = new AbortController();
    signal.addEventListener(
      "abort",
      () => clock.schedule(clock.now() + deafForMs, () => controller.abort(signal.reason)),
      { once: true },
    );
    this.signal = controller.signal;
  }
}
