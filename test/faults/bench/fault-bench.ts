import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "slipway/testing";
import { GatewayClient } from "../../../examples/gateway-core/src/client/gateway-client.js";
import { eventually } from "../../../examples/gateway-core/src/testing/eventually.js";
import { TcpProxy } from "../../../examples/gateway-core/src/testing/tcp-proxy.js";
import { directoryImage } from "../../../examples/gateway-core/test/images.js";
import { freePort, PostgresServer } from "../../../examples/gateway-core/test/postgres-server.js";
import { checkHistory } from "../checker/check-history.js";
import type { Violation } from "../checker/history.js";
import { planSchedule, REPLICAS } from "../schedule.js";
import { Faults } from "./faults.js";
import { Load } from "./load.js";
import { endMarked } from "./marked.js";
import { Recorder } from "./recorder.js";
import { Replayer } from "./replayer.js";
import { Replica } from "./replica.js";
import { Tally, type FaultReport } from "./report.js";
import { answers, Cleanups, findFakeTime } from "./surroundings.js";
import { leftBehind, removeAll, startsIn, waitForPeace } from "./whole.js";

const LEASE_MS = 2000;
const IMAGE_BYTES = 300_000;
const START_LIMIT_MS = 60_000;
const PEACE_LIMIT_MS = 120_000;
const REMOVAL_LIMIT_MS = 40_000;
/** Long for a busy machine; the boxes that are to expire have shorter ones of their own. */
const BUDGETS = [
  ["--preparation-ms", 20_000],
  ["--admission-ms", 20_000],
  ["--admission-ceiling-ms", 40_000],
  ["--stall-ms", 10_000],
  ["--cleanup-ms", 10_000],
  ["--lease-ms", LEASE_MS],
].flat();

export interface FaultRunOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** Where PostgreSQL's programs are. */
  readonly postgres: string;
  /** The gateway's program. */
  readonly program: string;
  /** Environment of the gateways: a broken one reads there what is broken. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly operationsPerSecond?: number | undefined;
  readonly faultEveryMs?: number | undefined;
  readonly peaceLimitMs?: number | undefined;
  /** A folder for the gateways' logs, when something was found. */
  readonly keepLogsIn?: string | undefined;
  readonly tell?: ((line: string) => void) | undefined;
  /** Where what is to be ended is kept, for a caller that may be interrupted. */
  readonly cleanups?: Cleanups | undefined;
}

/**
 * One run: three gateways, one database, a load and faults by the schedule of the seed; then everything is made
 * whole, and the full history is read and checked. Nothing of it is left behind.
 */
export async function runFaults(options: FaultRunOptions): Promise<FaultReport> {
  const { cleanups = new Cleanups() } = options;
  try {
    return await run(options, cleanups);
  } finally {
    await cleanups.run();
  }
}

async function run(options: FaultRunOptions, cleanups: Cleanups): Promise<FaultReport> {
  const startedAt = Date.now();
  const { seed, tell = () => undefined, peaceLimitMs = PEACE_LIMIT_MS } = options;
  const bench = await setUp(options, cleanups);
  const { client, load, faults, replayer, replicas, recorder, data, starts } = bench;
  await follow(options, bench, tell);
  tell("the faults are over: waiting for peace");
  const restless = await waitForPeace(client, data, peaceLimitMs, tell);
  // Before the history: what was begun or answered by now is in it, and what comes later is not asked for.
  const begun = await startsIn(starts);
  const deliveries = replayer.deliveries();
  const tally = new Tally();
  const violations: Violation[] = [];
  await recorder.read(async (recording) => {
    const stored = await recording.stored();
    for (const id of new Set([...(await recording.ids()), ...load.ids, ...begun.keys()])) {
      const history = {
        id,
        versions: await recording.versionsOf(id),
        answers: load.answersOf(id),
        deliveries: deliveries.get(id) ?? [],
        starts: begun.get(id) ?? [],
        end: {
          version: stored.get(id) ?? null,
          left: await leftBehind(join(data, "sandboxes", id)),
          restless: restless.get(id) ?? restless.get("") ?? null,
        },
      };
      tally.add(history);
      violations.push(...checkHistory(history));
    }
  });
  for (const left of await removeAll(client, REMOVAL_LIMIT_MS))
    violations.push({ rule: "not-operable", sandbox: left, version: null, detail: "a delete never ended" });
  if (violations.length > 0 && options.keepLogsIn !== undefined)
    for (const { logPath } of replicas)
      await cp(logPath, join(options.keepLogsIn, `${seed}-${logPath.split("/").at(-1)}`));
  const { sandboxes, versions, expired, lateness } = tally;
  return {
    ...{ seed, tookMs: Date.now() - startedAt, operations: { ...load.counts } },
    faults: Object.fromEntries(faults.happened),
    deliveries: { all: tally.deliveries, ...replayer.counts },
    ...{ sandboxes, versions, starts: tally.starts, expired, lateness },
    crashes: replicas.flatMap(({ crashes }) => crashes),
    violations,
  };
}

interface Bench {
  readonly client: GatewayClient;
  readonly load: Load;
  readonly faults: Faults;
  readonly replayer: Replayer;
  readonly replicas: readonly Replica[];
  readonly recorder: Recorder;
  readonly data: string;
  readonly starts: string;
}

async function setUp(options: FaultRunOptions, cleanups: Cleanups): Promise<Bench> {
  const { seed, program, env = {} } = options;
  const dir = await realpath(await mkdtemp(join(tmpdir(), "slipway-faults-")));
  cleanups.defer(() => rm(dir, { recursive: true, force: true }));
  const [image, data, starts] = [join(dir, "image"), join(dir, "data"), join(dir, "starts")];
  await Promise.all([mkdir(data), mkdir(starts), directoryImage(image, IMAGE_BYTES)]);
  const database = await PostgresServer.start(options.postgres);
  cleanups.defer(() => database.dispose());
  const name = await database.createDatabase();
  const recorder = await Recorder.install(database.url(name));
  const front = await TcpProxy.start();
  cleanups.defer(() => front.close());
  const replayer = await Replayer.start(front.port, seededRandom(seed + 2));
  cleanups.defer(() => replayer.close());
  cleanups.defer(() => endMarked(data));
  const supervisorUrl = `http://127.0.0.1:${replayer.port}`;
  const args = [...BUDGETS.map(String), "--data", data, "--supervisor-url", supervisorUrl];
  const fakeTime = findFakeTime();
  const replicas: Replica[] = [];
  for (let index = 0; index < REPLICAS; index += 1) {
    const served = { port: await freePort(), databasePort: database.port, database: name };
    const replica = await Replica.start({ program, index, args, env, dir, fakeTime, ...served });
    replicas.push(replica);
    cleanups.defer(() => replica.close());
  }
  for (const { port } of replicas)
    await eventually(`an answer of the gateway on port ${port}`, () => answers(port), START_LIMIT_MS);
  front.direct(replicas.map(({ port }) => port));
  const url = `http://127.0.0.1:${front.port}`;
  const faults = new Faults({ replicas, database, replayer, clocks: fakeTime !== null });
  const load = new Load({ url, image, starts });
  return { client: new GatewayClient({ url }), load, faults, replayer, replicas, recorder, data, starts };
}

/** Lets every step of the schedule happen at its instant, and waits until all of it is over. */
async function follow(
  options: FaultRunOptions,
  { load, faults }: Bench,
  tell: (line: string) => void,
): Promise<void> {
  const schedule = planSchedule({ ...options, leaseMs: LEASE_MS });
  tell(`seed ${options.seed}: ${schedule.length} steps in ${Math.round(options.durationMs / 1000)} s`);
  if (findFakeTime() === null) tell("libfaketime is not installed: no clock is stepped");
  const beganAt = Date.now();
  for (const { atMs, operation, twice, fault } of schedule) {
    // On a machine that cannot keep up the schedule ends early, and the run in time.
    if (Date.now() - beganAt > options.durationMs) break;
    await delay(Math.max(0, beganAt + atMs - Date.now()));
    if (fault !== undefined) {
      tell(`${atMs} ms, ${load.counts.answered} answered: ${JSON.stringify(fault)}`);
      faults.begin(fault);
    }
    if (operation === undefined) continue;
    await load.hasRoom();
    load.send(operation);
    if (twice === true) load.send(operation);
  }
  await faults.settled();
  await load.settled();
}
