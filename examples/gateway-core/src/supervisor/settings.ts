import { headOf } from "../cut-text.js";

/** What a driver gives a supervisor, in its environment. */
export interface SupervisorSettings {
  readonly url: string;
  readonly sandbox: string;
  readonly token: string;
  readonly run: number;
  readonly command: readonly string[];
  /** A file that names this process once the driver wrote it down; absent where nobody does. */
  readonly note: string | undefined;
  /** How long the bootstrap may take until the gateway says how long. */
  readonly budgetMs: number;
  /** Whether the control group that the supervisor sees is the sandbox's alone, as a container's is. */
  readonly ownsMemory: boolean;
  /** Whether who ends the sandbox signals the supervisor alone, as a kubelet does, which then passes it on. */
  readonly askedAlone: boolean;
}

/** As long as a gateway grants an image's preparation, unless the driver says otherwise. */
const DEFAULT_BUDGET_MS = 30 * 60_000;

/** Variables that are the supervisor's own; the token above all is not the workload's business. */
const OWN = new Set([
  "SLIPWAY_TOKEN",
  "SLIPWAY_GATEWAY_URL",
  "SLIPWAY_RUN",
  "SLIPWAY_COMMAND",
  "SLIPWAY_NOTE",
  "SLIPWAY_BUDGET_MS",
  "SLIPWAY_OWNS_MEMORY",
  "SLIPWAY_ASKED_ALONE",
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Error naming the variable that is missing or wrong */
export function readSettings(env: Environment): SupervisorSettings {
  return {
    url: required(env, "SLIPWAY_GATEWAY_URL").replace(/\/+$/, ""),
    sandbox: required(env, "SLIPWAY_SANDBOX"),
    token: required(env, "SLIPWAY_TOKEN"),
    run: whole("SLIPWAY_RUN", required(env, "SLIPWAY_RUN")),
    command: command(required(env, "SLIPWAY_COMMAND")),
    note: env["SLIPWAY_NOTE"],
    budgetMs: whole("SLIPWAY_BUDGET_MS", env["SLIPWAY_BUDGET_MS"] ?? String(DEFAULT_BUDGET_MS)),
    ownsMemory: env["SLIPWAY_OWNS_MEMORY"] === "1",
    askedAlone: env["SLIPWAY_ASKED_ALONE"] === "1",
  };
}

/** The environment of what a supervisor starts: all but its own variables. */
export function inherited(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || OWN.has(name) ? [] : [[name, value]],
    ),
  );
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (value === undefined || value === "") throw new Error(`${name} must be set`);
  return value;
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`${name} must be a whole number above 0, got ${JSON.stringify(text)}`);
}

function command(text: string): readonly string[] {
  let words: unknown;
  try {
    words = JSON.parse(text);
  } catch {
    words = null;
  }
  if (Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === "string"))
    return words;
  throw new Error(`SLIPWAY_COMMAND must be a JSON list of words, got ${headOf(text, 120)}`);
}
