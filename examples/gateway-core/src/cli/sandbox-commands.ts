import { Option, type Command } from "commander";
import { resolve } from "node:path";
import {
  contextOf,
  jsonObject,
  milliseconds,
  printJson,
  requireOption,
  shownJson,
  summary,
  wholeNumber,
} from "./context.js";
import { safeText } from "../terminal/safe-text.js";
import { EXIT_GONE, follow, followToTheEnd, hasSettled } from "./follow.js";
import { tellVerdict } from "./verdict.js";

interface CreateOptions {
  readonly image: string;
  readonly imageName?: string;
  readonly include?: readonly string[];
  readonly policy?: unknown;
  readonly driver?: string;
  readonly driverOptions?: unknown;
  readonly preparationMs?: number;
  readonly admissionMs?: number;
  readonly stallMs?: number;
  readonly wait: boolean;
}

interface WaitOptions {
  readonly wait: boolean;
}

interface UpdateOptions extends WaitOptions {
  readonly policy: unknown;
  readonly ifGeneration?: number;
}

/** What `--image` names: something on this machine, or what the driver's backend knows by that reference. */
export type ImageKind = "path" | "reference";

const IMAGE_HELP: Readonly<Record<ImageKind, string>> = {
  path: "a directory, a .tar or a .tar.gz",
  reference: "the image's reference",
};

function imageOf(kind: ImageKind, { image, imageName: name, include }: CreateOptions): object {
  return kind === "path" ? { path: resolve(image), name, include } : { name: image, include };
}

export function addSandboxCommands(program: Command, images: ImageKind): void {
  program
    .command("create <name> <command...>")
    .description("create a sandbox and follow it until it is ready or failed")
    .option("--image <image>", `${IMAGE_HELP[images]} (required)`)
    .option("--image-name <name>", "what to call the image")
    .option("--include <path...>", "parts of the directory to take")
    .addOption(new Option("--policy <json>", "the configuration").argParser(jsonObject))
    .option("--driver <name>", "the driver")
    .addOption(new Option("--driver-options <json>", "options of the driver").argParser(jsonObject))
    .option("--preparation-ms <ms>", "a shorter preparation budget", milliseconds)
    .option("--admission-ms <ms>", "a shorter admission budget", milliseconds)
    .option("--stall-ms <ms>", "a shorter stall limit", milliseconds)
    .option("--no-wait", "return at once")
    .action(async (name: string, words: string[], options: CreateOptions, command: Command) => {
      requireOption(command, "image");
      const context = contextOf(command);
      const { preparationMs, admissionMs, stallMs } = options;
      const created = await context.client.create({
        name,
        command: words,
        image: imageOf(images, options),
        policy: options.policy,
        driver: options.driver,
        driverOptions: options.driverOptions,
        budgets: { preparationMs, admissionMs, stallMs },
      });
      if (options.wait) process.exitCode = await follow(context, created.id, hasSettled);
      else print(context.json, created);
    });

  program
    .command("list")
    .description("list sandboxes")
    .action(async (_options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      for (let after: string | undefined; ; ) {
        const page = await client.list({ after });
        for (const view of page.items) print(json, view);
        for (const { id, message } of page.unreadable) console.error(safeText(`${id}: ${message}`));
        if (page.next === null) break;
        after = page.next;
      }
    });

  program
    .command("get <sandbox>")
    .description("show a sandbox, by its name or id")
    .action(async (sandbox: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const view = await client.get(sandbox);
      if (json) printJson(view);
      else console.log(shownJson(view));
    });

  program
    .command("watch <sandbox>")
    .description("follow a sandbox until it is deleted")
    .action(async (sandbox: string, _options: unknown, command: Command) => {
      const exitCode = await follow(contextOf(command), sandbox, () => false);
      process.exitCode = exitCode === EXIT_GONE ? 0 : exitCode;
    });

  program
    .command("update <sandbox>")
    .description("commit a configuration")
    .addOption(new Option("--policy <json>", "the configuration (required)").argParser(jsonObject))
    .option("--if-generation <n>", "only if this is the current generation", wholeNumber)
    .option("--no-wait", "return at once, and not with the supervisor's verdict")
    .action(async (sandbox: string, options: UpdateOptions, command: Command) => {
      requireOption(command, "policy");
      const context = contextOf(command);
      const { policy, ifGeneration, wait } = options;
      const updated = await context.client.update(sandbox, { policy, ifGeneration });
      const kind = updated.sameContent ? "the same content" : updated.renewed ? "a new window" : "a change";
      if (context.json) printJson(updated);
      else console.log(`${updated.name}: generation ${updated.configuration.generation}, ${kind}`);
      process.exitCode = await tellVerdict(context, updated, wait ? undefined : 0);
    });

  program
    .command("start <sandbox>")
    .description("start a sandbox again, with its identity and workspace")
    .option("--no-wait", "return at once")
    .action(async (sandbox: string, options: WaitOptions, command: Command) => {
      const context = contextOf(command);
      const view = await context.client.start(sandbox);
      if (options.wait) process.exitCode = await follow(context, view.id, hasSettled);
      else print(context.json, view);
    });

  program
    .command("recover <sandbox>")
    .description("leave an error by a new attempt with a new deadline, the same identity and workspace")
    .option("--no-wait", "return at once")
    .action(async (sandbox: string, options: WaitOptions, command: Command) => {
      const context = contextOf(command);
      const found = await context.client.get(sandbox);
      if (found.phase !== "Error") {
        console.error(`${found.name} is ${found.phase}, and not in Error: there is nothing to recover`);
        process.exitCode = found.phase === "Ready" ? 0 : 1;
        return;
      }
      const view = await context.client.start(found.id);
      if (options.wait) process.exitCode = await follow(context, view.id, hasSettled);
      else print(context.json, view);
    });

  program
    .command("stop <sandbox>")
    .description("stop a sandbox; its workspace stays")
    .option("--no-wait", "return at once")
    .action(async (sandbox: string, options: WaitOptions, command: Command) => {
      const context = contextOf(command);
      const view = await context.client.stop(sandbox);
      if (options.wait) process.exitCode = await follow(context, view.id, hasSettled, "phase");
      else print(context.json, view);
    });

  program
    .command("delete <sandbox>")
    .description("delete a sandbox and its workspace")
    .option("--no-wait", "return at once")
    .action(async (sandbox: string, options: WaitOptions, command: Command) => {
      const context = contextOf(command);
      const view = await context.client.delete(sandbox);
      if (!options.wait) {
        print(context.json, view);
        return;
      }
      process.exitCode = await followToTheEnd(context, view);
    });
}

function print(json: boolean, view: Parameters<typeof summary>[0]): void {
  if (json) printJson(view);
  else console.log(summary(view));
}
