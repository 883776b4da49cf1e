import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { GatewayClient } from "../src/client/gateway-client.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import type { SandboxView } from "../src/http/view.js";
import { decodeRecord } from "../src/record/record-schema.js";
import type { SandboxRecord } from "../src/record/record.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { directoryImage } from "./images.js";
import { contradictions, inconsistencies, type Snapshot } from "./kill-invariants.js";
import { eventually } from "../src/testing/eventually.js";
import { seededRandom } from "./random.js";
import { tempDir } from "./temp-dir.js";

const KILLS = 50;
const SEED = Number(process.env["SLIPWAY_KILL_SEED"] ?? 20_260_401);
const LIVE_MAX = 8;
const INVALID = { version: 1, network: { allow: ["nowhere"] } };
const ARGS = [
  ["--preparation-ms", 2500],
  ["--admission-ms", 1200],
  ["--admission-ceiling-ms", 5000],
  ["--stall-ms", 1000],
  ["--cleanup-ms", 2000],
  ["--lease-ms", 1000],
].flat();

/** What was acknowledged over HTTP, and must be true for ever after. */
class Acknowledged {
  readonly created = new Set<string>();
  readonly deleteAsked = new Set<string>();
  count = 0;
}

it(`killing the gateway at ${KILLS} random instants loses no record, extends no deadline and forgets no cleanup (seed ${SEED})`, async () => {
  const dir = await tempDir();
  const image = join(dir, "image");
  await directoryImage(image, 3_000_000);
  const gateway = new GatewayProcess({
    dataDir: dir,
    args: ARGS.map(String),
    cli: fileURLToPath(new URL("../dist/cli.js", import.meta.url)),
  });
  const random = seededRandom(SEED);
  const acknowledged = new Acknowledged();
  let before: Snapshot = new Map();
  let killedWhileStarting = 0;
  // The first start picks the port; all later ones come back to it.
  const url = await gateway.start();
  const client = new GatewayClient({ url });
  try {
    // Some of each kind before the first kill: how much the load adds depends on how busy the machine is.
    for (let kind = 0; kind < LIVE_MAX; kind += 1)
      await createOne(client, image, kind / LIVE_MAX, acknowledged);
    // A machine with more to do gets to less between two kills, and is killed more often.
    const isEnough = (): boolean => acknowledged.created.size > LIVE_MAX;
    for (let kill = 0; kill < KILLS || (kill < 4 * KILLS && !isEnough()); kill += 1) {
      const stop = new AbortController();
      const load = runLoad(client, image, random, acknowledged, stop.signal);
      // Two of three kills hit a gateway that serves requests, the others one that is still starting.
      if (kill > 0) {
        gateway.launch();
        const starting = random() < 1 / 3;
        if (starting) killedWhileStarting += 1;
        else await eventually("a gateway that answers", () => answers(url));
      }
      await delay(random() * 350);
      expect(await gateway.end("SIGKILL")).toBe("SIGKILL");
      stop.abort();
      await load;
      const after = await readAll(dir);
      expect(lost(acknowledged, after), `lost after kill ${kill}`).toEqual([]);
      expect([...contradictions(before, after), ...inconsistencies(after)], `after kill ${kill}`).toEqual([]);
      before = after;
    }
    await gateway.start();
    await eventually("every attempt settled and cleaned up", async () => {
      const { items } = await client.list({ limit: 500 });
      return items.every(isAtPeace);
    });
    const end = await readAll(dir);
    expect(lost(acknowledged, end)).toEqual([]);
    expect([...contradictions(before, end), ...inconsistencies(end)]).toEqual([]);
    for (const [id, { deadline, phase }] of end) {
      if (deadline?.status === "expired") {
        expect(deadline.cleanup, `cleanup of ${id}`).toMatchObject({ status: "done" });
        expect(deadline.cleanup.claims, `claims of ${id}`).toBeGreaterThan(0);
      }
      const left = await readdir(join(dir, "data", "sandboxes", id)).catch(() => []);
      expect(left, `what ${id} left staged`).not.toContain("staging");
      if (phase === "Error") expect(left, `a supervisor of ${id}`).not.toContain("supervisor.json");
    }
    // The run means something only when there was something to lose.
    expect(isEnough(), `${acknowledged.created.size} created`).toBe(true);
    expect(count(end, "expired")).toBeGreaterThan(3);
    expect(killedWhileStarting).toBeGreaterThan(5);
  } finally {
    await deleteAll(gateway, client);
  }
}, 900_000);

/** Creates, repairs, stops, starts and deletes until told to stop. What fails because nobody answers is not counted. */
async function runLoad(
  client: GatewayClient,
  image: string,
  random: () => number,
  acknowledged: Acknowledged,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await oneOperation(client, image, random, acknowledged);
    } catch {
      // The gateway was killed in the middle, or refused what made no sense at the moment.
    }
    await delay(30 + random() * 60, undefined, { signal }).catch(() => undefined);
  }
}

async function oneOperation(
  client: GatewayClient,
  image: string,
  random: () => number,
  acknowledged: Acknowledged,
): Promise<void> {
  const { items } = await client.list({ limit: 500 });
  const live = items.filter(({ phase }) => phase !== "Error" && phase !== "Deleting");
  const chosen = items[Math.floor(random() * items.length)];
  const dice = random();
  if (chosen === undefined || (dice < 0.35 && live.length < LIVE_MAX)) {
    await createOne(client, image, random(), acknowledged);
  } else if (dice < 0.5) {
    await client.update(chosen.id, { policy: chosen.configuration.policy });
  } else if (dice < 0.65) {
    await client.update(chosen.id, { policy: { version: 1, env: { CHANGE: String(random()) } } });
  } else if (dice < 0.75) await client.stop(chosen.id);
  else if (dice < 0.85) await client.start(chosen.id);
  else if (items.length > LIVE_MAX) {
    acknowledged.deleteAsked.add(chosen.id);
    await client.delete(chosen.id);
  }
}

async function createOne(
  client: GatewayClient,
  image: string,
  kind: number,
  acknowledged: Acknowledged,
): Promise<void> {
  acknowledged.count += 1;
  const name = `box-${acknowledged.count}`;
  const fields = { name, image: { path: image }, command: ["sleep", "60"], ...variant(kind) };
  acknowledged.created.add((await client.create(fields)).id);
}

function variant(dice: number): Record<string, unknown> {
  if (dice < 0.3) return { driverOptions: { fault: { stallAtBytes: 1_000_000, repeatReports: true } } };
  if (dice < 0.5) return { policy: INVALID };
  if (dice < 0.8) return { driverOptions: { bytesPerSecond: 2_500_000, fault: { repeatReports: true } } };
  return {};
}

/** Reads the store while no gateway runs. A record that cannot be decoded fails the test here. */
async function readAll(dir: string): Promise<Map<string, SandboxRecord>> {
  const store = new SqliteStore(join(dir, "data", "gateway.db"));
  try {
    const { items } = await store.list({ limit: 10_000 });
    return new Map(items.map(({ id, value }) => [id, decodeRecord(id, value)]));
  } finally {
    await store.close();
  }
}

function lost({ created, deleteAsked }: Acknowledged, snapshot: Snapshot): string[] {
  return [...created].filter((id) => !snapshot.has(id) && !deleteAsked.has(id));
}

function isAtPeace({ phase, deadline, startPending }: SandboxView): boolean {
  const busy = phase === "Stopping" || phase === "Deleting" || startPending;
  return !busy && deadline?.status !== "active" && deadline?.cleanup.status !== "pending";
}

function count(snapshot: Snapshot, status: string): number {
  return [...snapshot.values()].filter(({ deadline }) => deadline?.status === status).length;
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    (response) => response.ok,
    () => false,
  );
}

async function deleteAll(gateway: GatewayProcess, client: GatewayClient): Promise<void> {
  try {
    if (gateway.pid === undefined) await gateway.start();
    const { items } = await client.list({ limit: 500 });
    await Promise.all(items.map(({ id }) => client.delete(id)));
    await eventually("nothing left", async () => (await client.list()).items.length === 0);
  } finally {
    await gateway.end("SIGTERM");
  }
}
