import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import { inherited } from "../settings.js";
import type { AllowList } from "./allow-list.js";
import { READY_PATH } from "./proxy.js";
import { SIDECAR_WORD, type ApplyMessage } from "./sidecar.js";

const listeningSchema = z.object({ port: z.int().positive() });
const readySchema = z.object({ ready: z.literal(true), revision: z.int() });

/** The sidecar is not there, not yet or no more: the next try starts or asks another. */
export class EnforcementError extends Error {
  override readonly name = "EnforcementError";
}

interface Sidecar {
  readonly child: ChildProcess;
  readonly port: Promise<number>;
}

/**
 * The enforcement of a network policy: a process of its own, beside the workload, which is started here, told what is
 * allowed, and asked whether it is ready. Calls do not overlap.
 */
export class Enforcement {
  readonly #program: string;
  readonly #onLost: (message: string) => void;
  #sidecar: Sidecar | null = null;
  #port: number | null = null;
  #revision = 0;
  #letGo = false;

  /**
   * @param program - The supervisor's own program file.
   * @param onLost - Told when a sidecar that was ready is gone, and nobody ended it.
   */
  constructor(program: string, onLost: (message: string) => void) {
    this.#program = program;
    this.#onLost = onLost;
  }

  /** Whether a sidecar enforces something: a policy without rules about the network needs no sidecar. */
  get isOn(): boolean {
    return this.#port !== null;
  }

  /**
   * Puts the rules into force, starting the sidecar if there is none. Resolves once the sidecar itself says that it
   * goes by them.
   *
   * @throws EnforcementError, what starting a process throws, and the signal's reason
   */
  async apply(allow: AllowList, signal: AbortSignal): Promise<void> {
    if (allow === null && this.#sidecar === null) return;
    const sidecar = (this.#sidecar ??= this.#start());
    const port = await orAborted(sidecar.port, signal);
    this.#revision += 1;
    const message: ApplyMessage = { allow: allow === null ? null : [...allow], revision: this.#revision };
    sidecar.child.send(message, () => undefined);
    await this.#askReady(port, signal);
    if (this.#sidecar !== sidecar) throw new EnforcementError("the enforcement sidecar ended");
    this.#port = port;
  }

  /** The sidecar's process, `null` when there is none. */
  get pid(): number | null {
    return this.#sidecar?.child.pid ?? null;
  }

  /** Variables that lead a workload's HTTP clients through the proxy. Empty when nothing is enforced. */
  get environment(): Record<string, string> {
    if (this.#port === null) return {};
    const url = `http://127.0.0.1:${this.#port}`;
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
    const proxied = Object.fromEntries(names.map((name) => [name, url]));
    // An exception from the proxy would be an exception from the policy.
    return { ...proxied, NO_PROXY: "", no_proxy: "", NODE_USE_ENV_PROXY: "1" };
  }

  /** Ends the sidecar; nobody is told. Resolves once it is gone. */
  async end(): Promise<void> {
    this.#letGo = true;
    const child = this.#sidecar?.child;
    if (child === undefined) return;
    const gone = once(child, "exit").catch(() => undefined);
    child.ref();
    // One that has ended already, or never began, has no exit to come.
    if (child.kill("SIGKILL")) await gone;
  }

  /** Its end is expected from now on, whoever brings it about. */
  letGo(): void {
    this.#letGo = true;
  }

  #start(): Sidecar {
    const child = spawn(process.execPath, [this.#program, SIDECAR_WORD], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: inherited(process.env),
    });
    const sidecar: Sidecar = { child, port: portOf(child) };
    sidecar.port.catch(() => undefined);
    const over = (why: string): void => {
      if (this.#sidecar !== sidecar) return;
      const wasReady = this.#port !== null;
      this.#sidecar = null;
      this.#port = null;
      if (wasReady && !this.#letGo) this.#onLost(`the enforcement sidecar ended: ${why}`);
    };
    child.once("exit", (code, signal) => over(signal ?? `exit code ${String(code)}`));
    child.once("error", (error) => over(error.message));
    // Neither it nor its channel keeps a supervisor that is done.
    child.unref();
    child.channel?.unref();
    return sidecar;
  }

  async #askReady(port: number, signal: AbortSignal): Promise<void> {
    // The message and the question take different ways: the question may be the first to arrive.
    for (let tries = 0; tries < 20; tries += 1) {
      const response = await fetch(`http://127.0.0.1:${port}${READY_PATH}`, { signal });
      const { data } = readySchema.safeParse(await response.json());
      if (data?.revision === this.#revision) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new EnforcementError("the enforcement sidecar does not go by the new rules");
  }
}

/** The port that the sidecar says it listens on. */
async function portOf(child: ChildProcess): Promise<number> {
  const ended = new AbortController();
  const over = once(child, "exit", { signal: ended.signal }).then(() => {
    throw new EnforcementError("the enforcement sidecar ended before it was ready");
  });
  try {
    const [message] = (await Promise.race([
      once(child, "message", { signal: ended.signal }),
      over,
    ])) as unknown[];
    return listeningSchema.parse(message).port;
  } finally {
    ended.abort();
    over.catch(() => undefined);
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const stop = new AbortController();
  try {
    const aborted = once(signal, "abort", { signal: stop.signal }).then(() => {
      throw signal.reason;
    });
    aborted.catch(() => undefined);
    return await Promise.race([work, aborted]);
  } finally {
    stop.abort();
  }
}
