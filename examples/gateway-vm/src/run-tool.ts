import { tailOf } from "@slipway-examples/gateway-core";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Tools for file systems are not in everybody's PATH. */
export const TOOL_ENV = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, LC_ALL: "C" };

/** Runs a tool to its end and returns what it said. Its complaint is in the error's message. */
export async function runTool(tool: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  try {
    const options = { env: TOOL_ENV, maxBuffer: 16_000_000, ...(signal === undefined ? {} : { signal }) };
    return (await run(tool, args, options)).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    const { stderr, code } = error as { stderr?: string; code?: unknown };
    if (code === "ENOENT") throw new Error(`${tool} is not installed`, { cause: error });
    throw new Error(`${tool} failed: ${lastWords(stderr) || String(code)}`, { cause: error });
  }
}

/** The end of what a program complained about, short enough for a message. */
export function lastWords(text = ""): string {
  return tailOf(text.trim().split("\n").slice(-3).join("; "), 500);
}
