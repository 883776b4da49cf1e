import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { GatewayClient } from "../../../examples/gateway-core/src/client/gateway-client.js";
import type { SandboxView } from "../../../examples/gateway-core/src/http/view.js";
import type { WorkloadStart } from "../checker/history.js";
import { markedBelow } from "./marked.js";

const POLL_MS = 250;
const AT_REST = new Set(["Ready", "Stopped", "Completed", "Error"]);
const PAGE = 500;

async function listAll(client: GatewayClient): Promise<readonly SandboxView[]> {
  const items: SandboxView[] = [];
  for (let after: string | undefined; ; ) {
    const page = await client.list({ after, limit: PAGE });
    items.push(...page.items);
    if (page.next === null) return items;
    after = page.next;
  }
}

/** Waits until nothing is under way any more; what never came to rest, with why, by its id. */
export async function waitForPeace(
  client: GatewayClient,
  dataDir: string,
  limitMs: number,
  tell: (line: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const giveUpAt = Date.now() + limitMs;
  let told = "";
  let restless = new Map([["", "no gateway answered"]]);
  while (Date.now() < giveUpAt) {
    const items = await listAll(client).catch(() => null);
    if (items !== null) {
      const left = await strays(items, dataDir);
      restless = new Map(items.filter((item) => !isAtPeace(item)).map((item) => [item.id, item.phase]));
      for (const [id, what] of left) restless.set(id, what);
      if (restless.size === 0) return restless;
      const line = [...restless].map(([id, what]) => `${id}: ${what}`).join(", ");
      if (line !== told) tell(`under way: ${line}`);
      told = line;
    }
    await delay(POLL_MS);
  }
  return restless;
}

function isAtPeace({ phase, deadline, startPending }: SandboxView): boolean {
  const settled = deadline?.status !== "active" && deadline?.cleanup.status !== "pending";
  return AT_REST.has(phase) && settled && !startPending;
}

/** Processes that are of no run that goes on, by their sandbox. */
async function strays(items: readonly SandboxView[], dataDir: string): Promise<Map<string, string>> {
  const running = new Map(
    items.flatMap(({ id, phase, attempt, run }) => (phase === "Ready" ? [[id, `${attempt}.${run}`]] : [])),
  );
  const found = new Map<string, string>();
  for (const { pid, sandbox, start } of await markedBelow(dataDir)) {
    if (running.get(sandbox) !== start) found.set(sandbox, `process ${pid} of start ${start}`);
  }
  return found;
}

/** Deletes everything and waits until nothing is left; what would not go. */
export async function removeAll(client: GatewayClient, limitMs: number): Promise<readonly string[]> {
  const giveUpAt = Date.now() + limitMs;
  let left: readonly SandboxView[] = [];
  while (Date.now() < giveUpAt) {
    const items = await listAll(client).catch(() => null);
    if (items?.length === 0) return [];
    left = items ?? left;
    await Promise.allSettled(left.map(({ id }) => client.delete(id)));
    await delay(POLL_MS);
  }
  return left.map(({ id, phase }) => `${id} in ${phase}`);
}

/** What the main processes of each sandbox wrote when they began, by its id: each of them has a file. */
export async function startsIn(dir: string): Promise<ReadonlyMap<string, readonly WorkloadStart[]>> {
  const starts = new Map<string, readonly WorkloadStart[]>();
  for (const id of await readdir(dir)) {
    const lines = (await readFile(join(dir, id), "utf8")).split("\n").filter((line) => line !== "");
    starts.set(id, lines.map(parseStart));
  }
  return starts;
}

function parseStart(line: string): WorkloadStart {
  const [, attempt, run, at] = (/^(\d+)\.(\d+) (\d+)$/.exec(line) ?? []).map(Number);
  if (attempt === undefined || run === undefined || at === undefined)
    throw new Error(`a main process wrote ${JSON.stringify(line)} and not its start and its time`);
  return { attempt, run, at };
}

/** What a sandbox at rest should have cleaned up. */
export async function leftBehind(sandboxDir: string): Promise<readonly string[]> {
  const names = await readdir(sandboxDir).catch((): string[] => []);
  if (!names.includes("staging")) return [];
  const staged = await readdir(join(sandboxDir, "staging")).catch(() => []);
  return staged.map((name) => `staging/${name}`);
}
