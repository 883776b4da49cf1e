import { InvalidArgumentError, type Command } from "commander";
import { GatewayClient } from "../client/gateway-client.js";
import { headOf } from "../cut-text.js";
import type { SandboxView } from "../http/view.js";
import { safeText } from "../terminal/safe-text.js";

export interface GlobalOptions {
  readonly url: string;
  readonly token?: string;
  readonly json?: boolean;
  readonly reasonContract?: number;
}

/** What every command has at hand. */
export interface CommandContext {
  readonly client: GatewayClient;
  readonly json: boolean;
}

export function contextOf(command: Command): CommandContext {
  const { url, token, json, reasonContract } = command.optsWithGlobals<GlobalOptions>();
  if (!URL.canParse(url)) command.error(`error: --url must be a URL, got ${JSON.stringify(url)}`);
  return {
    client: new GatewayClient({ url, token, reasonContract }),
    json: json === true,
  };
}

/**
 * Asks for an option that a command cannot do without. Not commander's own way, which complains of what is missing before
 * it says which word of the command line it does not know, so that a mistyped option is called a missing one.
 */
export function requireOption(command: Command, name: string): void {
  if (command.getOptionValue(name) !== undefined) return;
  const flags = command.options.find((option) => option.attributeName() === name)?.flags ?? name;
  command.error(`error: required option '${flags}' not specified`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A value as people read it. */
export function shownJson(value: unknown): string {
  return safeText(JSON.stringify(value, null, 2));
}

/** One sandbox as one line. */
export function summary(view: SandboxView): string {
  const left = view.deadline?.remainingMs ?? null;
  const deadline =
    view.deadline?.status === "active" && left !== null ? `, ${Math.ceil(left / 1000)} s left` : "";
  return safeText(`${view.name}  ${view.phase}  ${view.reason}${deadline}  (${view.id})`);
}

/** A hundred years: so long after now there still are instants. */
const MOST_MS = 100 * 365 * 24 * 3_600_000;

/** A whole number of milliseconds on the command line. */
export function milliseconds(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0 && value <= MOST_MS) return value;
  throw new InvalidArgumentError(
    `Expected a whole number of milliseconds above 0, ${MOST_MS} at most, got ${JSON.stringify(text)}.`,
  );
}

export function portNumber(text: string): number {
  const value = Number(text);
  if (text !== "" && Number.isSafeInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError(`Expected a port from 0 to 65535, got ${JSON.stringify(text)}.`);
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text !== "" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError(`Expected a whole number, got ${JSON.stringify(text)}.`);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError(`Expected a number above 0, got ${JSON.stringify(text)}.`);
}

/** A JSON object on the command line. */
export function jsonObject(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`Expected JSON: ${(error as Error).message}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InvalidArgumentError(`Expected a JSON object, got ${headOf(text, 80)}.`);
}

/** A limit that may be left out: `none` is not zero. */
export function millisecondsOrNone(text: string): number | "none" {
  return text === "none" ? text : milliseconds(text);
}
