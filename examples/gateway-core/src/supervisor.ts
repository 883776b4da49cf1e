import { parsePolicy, type Policy } from "./policy/policy.js";
import { InvalidInputError } from "./input-error.js";
import { DismissedError, GatewayLink, type ReceivedConfiguration } from "./supervisor/gateway-link.js";
import { writtenDown } from "./supervisor/written-down.js";
import { exitCodeOf, MainProcess } from "./supervisor/main-process.js";

/** Longest diagnostic that the gateway takes. */
const MAX_MESSAGE_LENGTH = 2000;

/**
 * The program inside a sandbox. It fetches its configuration, judges it, says what it found, and waits for a better
 * one while it is invalid. The main process starts once the gateway took note of an accepted configuration, and not
 * before; its end is reported, and is the end of the supervisor.
 */
async function supervise(link: GatewayLink, command: readonly string[]): Promise<number> {
  let main: MainProcess | null = null;
  let ended = new Promise<number>(() => undefined);
  let after = 0;
  let ready = false;
  for (;;) {
    const configuration = await Promise.race([link.configurationAfter(after), ended]);
    if (typeof configuration === "number") return configuration;
    after = configuration.generation;
    const policy = judge(configuration);
    if (policy instanceof InvalidInputError) {
      const { generation } = configuration;
      const message = policy.message.slice(0, MAX_MESSAGE_LENGTH);
      const reply = await link.report({
        kind: "rejected",
        generation,
        reason: "ConfigurationInvalid",
        message,
      });
      if (reply === "not-current") after = 0;
      continue;
    }
    const reply = await link.report({ kind: "accepted", generation: after });
    if (reply === "not-current") {
      after = 0;
      continue;
    }
    if (main === null) {
      if (!reply.activate) continue;
      main = MainProcess.start(command, policy);
      ended = reportEnd(link, main);
    }
    // Another configuration may have come in between: then the gateway hears it again once that one is accepted.
    if (!ready && (await main.started())) {
      ready = (await link.report({ kind: "ready", generation: after })) !== "not-current";
    }
  }
}

/** Reports the end of the main process as soon as it comes; the exit code to end with. */
async function reportEnd(link: GatewayLink, main: MainProcess): Promise<number> {
  const exit = await main.exit;
  await link.report({ kind: "exited", ...exit });
  return exitCodeOf(exit);
}

function judge({ policy }: ReceivedConfiguration): Policy | InvalidInputError {
  try {
    return parsePolicy(policy);
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
}

/** A workload is not left behind by a supervisor that has nobody to report to. */
function endGroup(): void {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // Started by hand, and not as the leader of a group: there is nothing of ours to end.
  }
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} must be set`);
  return value;
}

const link = new GatewayLink({
  url: setting("SLIPWAY_GATEWAY_URL"),
  sandbox: setting("SLIPWAY_SANDBOX"),
  token: setting("SLIPWAY_TOKEN"),
  run: Number(setting("SLIPWAY_RUN")),
});
const command = JSON.parse(setting("SLIPWAY_COMMAND")) as string[];

try {
  await writtenDown(process.env["SLIPWAY_NOTE"], process.pid);
  process.exitCode = await supervise(link, command);
} catch (error) {
  console.error(error instanceof DismissedError ? `Dismissed: ${error.message}` : error);
  endGroup();
}
process.exit();
