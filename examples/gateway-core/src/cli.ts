#!/usr/bin/env node
import { Command, CommanderError, Option } from "commander";
import { addSandboxCommands } from "./cli/sandbox-commands.js";
import { addServeCommand } from "./cli/serve-command.js";
import { ApiError, UnreachableError } from "./client/gateway-client.js";

const EXIT_USAGE = 2;
const EXIT_NOT_FOUND = 3;
const EXIT_UNREACHABLE = 4;

function buildProgram(): Command {
  const program = new Command("slipway-gateway")
    .description("A sandbox gateway, and its client")
    .addOption(
      new Option("--url <url>", "the gateway").env("SLIPWAY_GATEWAY_URL").default("http://127.0.0.1:7300"),
    )
    .addOption(new Option("--token <token>", "the owner token").env("SLIPWAY_GATEWAY_TOKEN"))
    .option("--json", "one JSON object per line on standard output")
    .exitOverride();
  addServeCommand(program);
  addSandboxCommands(program);
  for (const command of program.commands) command.exitOverride();
  return program;
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const text = error instanceof Error ? error.message : String(error);
  console.error(`error: ${text}`);
  if (error instanceof UnreachableError) return EXIT_UNREACHABLE;
  if (!(error instanceof ApiError)) return 1;
  return error.status === 404 ? EXIT_NOT_FOUND : error.status === 400 ? EXIT_USAGE : 1;
}

// Whoever reads this through a pipe may have read enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeFor(error);
}
