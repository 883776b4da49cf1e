import {
  isAlive,
  type DriverPort,
  type ImageSpec,
  type Json,
  type JsonObject,
  type LaunchContext,
  type LaunchRequest,
  type ProcessIdentity,
  type SandboxRef,
  type WorkContext,
} from "@slipway-examples/gateway-core";
import Docker from "dockerode";
import { on } from "node:events";
import { access, mkdir, realpath, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock, type Clock } from "slipway";
import {
  observeProcess,
  type ExpectedRun,
  type Observation,
  type ObservedSandbox,
  type Page,
  type WatchEvent,
} from "slipway/phase";
import { ImageCache } from "./image/image-cache.js";
import { checkImage, sourceOf } from "./image/image-source.js";
import { MachineNews } from "./machine-news.js";
import { usableAccelerator } from "./machine/accelerator.js";
import { prepareDisks } from "./machine/disks.js";
import { readNote } from "./machine/machine-note.js";
import { endMachine, killMachine, startMachine } from "./machine/machine.js";
import { observeMachine } from "./machine/observe-machine.js";
import { ROOTFS, START, type Accelerator } from "./machine/qemu-arguments.js";
import { gatewayOf, startLines } from "./machine/start-lines.js";
import { OvertakenError, refuseOvertaken } from "./overtaken.js";
import { isNewer, namesIn, SandboxDirs, sandboxesIn, type Start } from "./sandbox-dirs.js";
import { claimStaging, isBeingPrepared, unstage } from "./staging.js";
import { parseVmOptions } from "./vm-options.js";
import { permanent, vmReasons } from "./reasons.js";

/** How long a guest may take to switch itself off: without KVM even that is slow. */
const STOP_GRACE_MS = 15_000;
const PAGE = 100;
const DEFAULT_IMAGE_CACHE_MB = 20_480;

export interface VmDriverOptions {
  readonly dataDir: string;
  /** A folder with `vmlinuz` and `initrd.gz`, as `scripts/engines/vm-kernel.sh` makes it. */
  readonly guestDir: string;
  /** Socket of the local Docker engine, from which images without a path come. */
  readonly dockerSocket?: string | undefined;
  /** `auto` takes KVM where a guest really boots with it. Default `auto`. */
  readonly accelerator?: Accelerator | "auto" | undefined;
  readonly qemu?: string | undefined;
  /**
   * What the packed images may take of the disk, in MiB. Above it the one that was not used for longest is removed,
   * never one in use. Looked at whenever a start has its image. Default 20 480.
   */
  readonly imageCacheMb?: number | undefined;
  /** The gateway's clock, which its records go by. Default: the host's. */
  readonly clock?: Clock | undefined;
}

/** A sandbox is a virtual machine under QEMU; its image comes from the local Docker engine or a tar archive. */
export class VmDriver implements DriverPort {
  readonly name = "vm";
  readonly reasons = Object.keys(vmReasons.reasons);
  readonly findsByData = true;
  readonly #options: VmDriverOptions;
  readonly #docker: Docker;
  readonly #clock: Clock;
  readonly #news = new MachineNews();
  #accelerator: Promise<Accelerator> | null = null;

  constructor(options: VmDriverOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#docker = new Docker({ socketPath: options.dockerSocket ?? "/var/run/docker.sock" });
  }

  async check(image: ImageSpec, options: JsonObject): Promise<void> {
    parseVmOptions(options);
    checkImage(image);
    return Promise.resolve();
  }

  async launch(request: LaunchRequest, { signal, report }: LaunchContext): Promise<Json> {
    const { image, instance, sandbox } = request;
    const options = parseVmOptions(request.options);
    const gateway = gatewayOf(request.access);
    const dirs = await this.#dirs(sandbox);
    const running = await this.#adopt(dirs, request);
    if (running !== null) return running;
    await unstage(dirs, this.#docker, instance).catch(() => undefined);
    const staging = dirs.stagingOf(instance);
    try {
      await claimStaging(staging);
      const source = await sourceOf(image, this.#docker, signal);
      const cached = await (await this.#images()).provide({
        image,
        source,
        staging,
        sandboxName: sandbox.name,
        signal,
        report,
      });
      await refuseOvertaken(dirs, instance);
      await this.#endMachines(dirs, signal, 0, instance);
      const directory = dirs.machineOf(instance);
      const disk = { step: "disk", label: "Root disk prepared", activeLabel: "Preparing root disk" } as const;
      report({ ...disk, subject: image.name, unit: "none" });
      await prepareDisks(directory, dirs.workspace, options, signal);
      await rename(cached.rootfs, join(directory, ROOTFS));
      report({ ...disk, subject: image.name, unit: "none", done: true });
      await writeFile(join(directory, START), startLines(request, cached), { mode: 0o600 });
      const name = `slipway/${sandbox.id}/${instance.id}`;
      const accelerator = await this.#usable();
      const words = { label: "Virtual machine started", activeLabel: "Starting virtual machine" };
      const step = { step: "machine", ...words, unit: "none" } as const;
      report({ ...step, subject: accelerator });
      const spec = {
        ...this.#guest(),
        name,
        accelerator,
        workspace: dirs.workspace,
        gateway,
        options,
      };
      await refuseOvertaken(dirs, instance);
      const onExit = (): void => this.#news.say(sandbox.id);
      const qemu = this.#options.qemu ?? "qemu-system-x86_64";
      const identity = await startMachine({ directory, qemu, instanceId: instance.id, spec, signal, onExit });
      void this.#news.attach(sandbox.id, identity);
      report({ ...step, subject: accelerator, done: true });
      return { ...identity };
    } catch (error) {
      if (!(error instanceof OvertakenError))
        await rm(dirs.machineOf(instance), { recursive: true, force: true });
      throw error;
    } finally {
      // What an engine does not remove now is in the note, and is removed with the next cleanup.
      await unstage(dirs, this.#docker, instance).catch(() => undefined);
    }
  }

  /** From what is written down and from the machine itself: the gateway's handle is not needed for it. */
  async observe(sandbox: SandboxRef, run: ExpectedRun): Promise<Observation | null> {
    return this.#look(sandbox, run);
  }

  async list(cursor: string | null): Promise<Page<ObservedSandbox>> {
    const ids = await namesIn(sandboxesIn(await this.#root()));
    const after = cursor === null ? 0 : ids.findIndex((id) => id > cursor);
    const page = after < 0 ? [] : ids.slice(after, after + PAGE);
    const items = await Promise.all(
      page.map(async (id) => ({ id, observation: await this.#look({ id }, {}) })),
    );
    const more = after >= 0 && after + PAGE < ids.length;
    return { items, cursor: more ? (page.at(-1) ?? null) : null };
  }

  async *watch({ signal }: WorkContext): AsyncIterable<WatchEvent> {
    const news = on(this.#news, "news", { signal });
    try {
      for (const id of await namesIn(sandboxesIn(await this.#root())))
        this.#attachTo(id).catch(() => undefined);
      for await (const [id] of news) yield { type: "changed", id: id as string };
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await news.return?.();
      this.#news.detachUnlessWanted();
    }
  }

  async stop(sandbox: SandboxRef, { signal, upTo }: WorkContext): Promise<void> {
    const dirs = await this.#dirs(sandbox);
    await this.#endMachines(dirs, signal, STOP_GRACE_MS, upTo);
    this.#news.say(sandbox.id);
  }

  async cleanUp(sandbox: SandboxRef, { signal, upTo }: WorkContext): Promise<void> {
    const dirs = await this.#dirs(sandbox);
    await this.#endMachines(dirs, signal, 0, upTo);
    await unstage(dirs, this.#docker, upTo);
    this.#news.say(sandbox.id);
  }

  async remove(sandbox: SandboxRef, { signal }: WorkContext): Promise<void> {
    const dirs = await this.#dirs(sandbox);
    await this.#endMachines(dirs, signal, 0);
    await unstage(dirs, this.#docker);
    await rm(dirs.root, { recursive: true, force: true, maxRetries: 3 });
    this.#news.say(sandbox.id);
  }

  /** The machine of exactly this start, when it runs already. A newer one makes this start pointless. */
  async #adopt(dirs: SandboxDirs, { instance, sandbox }: LaunchRequest): Promise<Json | null> {
    await refuseOvertaken(dirs, instance);
    const note = await readNote(dirs.machineOf(instance));
    if (note?.instanceId !== instance.id || note.process === null || !(await isAlive(note.process)))
      return null;
    void this.#news.attach(sandbox.id, note.process);
    return { ...note.process };
  }

  /** Dated before anything is read: what begins while it looks, or while it is held up, was not seen. */
  async #look(sandbox: Pick<SandboxRef, "id">, run: ExpectedRun): Promise<Observation> {
    const options = { run, observedAt: this.#clock.now() };
    const dirs = await this.#dirs(sandbox);
    const last = (await dirs.machines()).at(-1);
    const clock = this.#clock;
    const seen =
      last === undefined ? null : await observeMachine(dirs.machineOf(last), { ...options, clock });
    if (seen !== null) return seen;
    const exists = await isThere(dirs.root);
    const stateDir = { exists, bootstrapping: exists && (await isBeingPrepared(dirs)) };
    return observeProcess({ process: null, stateDir }, options);
  }

  async #attachTo(id: string): Promise<void> {
    const dirs = await this.#dirs({ id });
    const last = (await dirs.machines()).at(-1);
    const note = last === undefined ? null : await readNote(dirs.machineOf(last));
    const machine = note?.process ?? null;
    if (machine !== null && (await isAlive(machine))) await this.#news.attach(id, machine);
  }

  /** Ends the machines of the starts up to the given one, and removes what is left of them. */
  async #endMachines(dirs: SandboxDirs, signal: AbortSignal, graceMs: number, upTo?: Start): Promise<void> {
    for (const start of await dirs.machines()) {
      if (upTo !== undefined && isNewer(start, upTo)) continue;
      const directory = dirs.machineOf(start);
      const identity: ProcessIdentity | null = (await readNote(directory))?.process ?? null;
      if (identity !== null && graceMs > 0) await endMachine(identity, graceMs, signal);
      else if (identity !== null) await killMachine(identity);
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    }
    await rmdir(join(dirs.root, "machines")).catch(() => undefined);
  }

  async #usable(): Promise<Accelerator> {
    const { accelerator = "auto", qemu = "qemu-system-x86_64" } = this.#options;
    const { kernel, initrd } = this.#guest();
    for (const file of [kernel, initrd]) {
      await access(file).catch(() => {
        const text = `There is no ${file}: make it with scripts/engines/vm-kernel.sh ${dirname(file)}`;
        throw permanent("MachineGuestMissing", text);
      });
    }
    if (accelerator !== "auto") return accelerator;
    return (this.#accelerator ??= usableAccelerator(qemu, kernel, initrd));
  }

  async #images(): Promise<ImageCache> {
    const { imageCacheMb = DEFAULT_IMAGE_CACHE_MB } = this.#options;
    return new ImageCache(join(await this.#root(), "images"), imageCacheMb * 1024 * 1024);
  }

  #guest(): { readonly kernel: string; readonly initrd: string } {
    const { guestDir } = this.#options;
    return { kernel: join(guestDir, "vmlinuz"), initrd: join(guestDir, "initrd.gz") };
  }

  /** By its real path, which is what the system shows of a process that works there. */
  async #root(): Promise<string> {
    await mkdir(this.#options.dataDir, { recursive: true });
    return realpath(this.#options.dataDir);
  }

  async #dirs(sandbox: Pick<SandboxRef, "id">): Promise<SandboxDirs> {
    return new SandboxDirs(await this.#root(), sandbox);
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => {
      if ((error as { code?: unknown }).code === "ENOENT") return false;
      throw error;
    },
  );
}
