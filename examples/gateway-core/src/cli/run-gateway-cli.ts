import { Command, CommanderError, Option } from "commander";
import { ApiError, UnreachableError } from "../client/gateway-client.js";
import type { Drivers } from "../driver/made-drivers.js";
import type { TlsFiles } from "../http/listen.js";
import { InvalidInputError } from "../input-error.js";
import type { ServeOptions } from "../serve-options.js";
import { safeText } from "../terminal/safe-text.js";
import { wholeNumber } from "./context.js";
import { addSandboxCommands, type ImageKind } from "./sandbox-commands.js";
import { addServeCommand } from "./serve-command.js";

const EXIT_USAGE = 2;
const EXIT_NOT_FOUND = 3;
const EXIT_UNREACHABLE = 4;

const TOKEN_HINT = ": give it with --token or in SLIPWAY_GATEWAY_TOKEN";

export interface GatewayCliOptions {
  /** The program's name, for its help. */
  readonly name: string;
  /** What `serve` runs on. */
  readonly drivers: Drivers;
  /** What `create --image` names. Default: a path on this machine. */
  readonly images?: ImageKind | undefined;
  /** Where `serve` listens when it is not told. Default: this machine only. */
  readonly host?: string | undefined;
  /** What `serve` tells supervisors to call when it is not told; `{port}` stands for the port. */
  readonly supervisorUrl?: string | undefined;
  /** Where `serve` keeps records. Default: a database in its folder. */
  readonly storage?: ServeOptions["storage"];
  /** Which failures of `storage` may pass by themselves, so that `serve` waits for it at its start. */
  readonly isStorageAway?: ServeOptions["isStorageAway"];
  /** What `serve` secures its port with, read when it starts. Default: nothing. */
  readonly tls?: (() => TlsFiles | undefined) | undefined;
}

/**
 * The command line of a gateway, `serve` and the client's commands, over this process's arguments. Sets the exit code.
 *
 * @example
 * ```ts
 * await runGatewayCli({ name: "my-gateway", drivers: ({ clock, log }) => [new MyDriver({ clock, log })] });
 * ```
 */
export async function runGatewayCli(options: GatewayCliOptions): Promise<void> {
  const program = buildProgram(options);
  surviveUnreadOutput(program);
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeFor(error);
  }
}

function buildProgram(options: GatewayCliOptions): Command {
  const program = new Command(options.name)
    .description("A sandbox gateway, and its client")
    .addOption(
      new Option("--url <url>", "the gateway").env("SLIPWAY_GATEWAY_URL").default("http://127.0.0.1:7300"),
    )
    .addOption(new Option("--token <token>", "the owner token").env("SLIPWAY_GATEWAY_TOKEN"))
    .option("--reason-contract <n>", "the contract of reasons to be answered in (default: 1)", wholeNumber)
    .option("--json", "one JSON object per line on standard output")
    .exitOverride();
  addServeCommand(program, options);
  addSandboxCommands(program, options.images ?? "path");
  for (const command of program.commands) command.exitOverride();
  return program;
}

/**
 * Whoever reads the output through a pipe may have read enough, or be gone, and a log's disk may be full. A client is
 * done then; a gateway goes on without words.
 */
function surviveUnreadOutput(program: Command): void {
  let serves = false;
  program.hook("preAction", (_, command) => {
    serves = command.name() === "serve";
  });
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (serves) return;
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  // What went wrong is in the exit code as well.
  process.stderr.on("error", () => undefined);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const text = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError && error.status === 401 ? TOKEN_HINT : "";
  console.error(`error: ${safeText(text)}${hint}`);
  if (error instanceof InvalidInputError) return EXIT_USAGE;
  if (error instanceof UnreachableError) return EXIT_UNREACHABLE;
  if (!(error instanceof ApiError)) return 1;
  return error.status === 404 ? EXIT_NOT_FOUND : error.status === 400 ? EXIT_USAGE : 1;
}
