import { systemClock } from "slipway";
import { eventually } from "@slipway-examples/gateway-core/testing";
import { seededRandom } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { listAll } from "../src/api/list-pages.js";
import { Reflector } from "../src/api/reflector.js";
import { nameOf, uidOf, type Plain } from "../src/api/plain.js";
import { BOOTSTRAP_KEY } from "../src/resource/names.js";
import { newSandbox } from "../src/resource/sandbox-manifest.js";
import { parseKubernetesOptions } from "../src/driver/options.js";
import { SANDBOX_VERSIONS, intentOf } from "../src/resource/sandbox-api.js";
import { RECORD_GROUP, RECORD_VERSION } from "../src/store/record-object.js";
import { ResourceStore } from "../src/store/resource-store.js";
import { AGAINST, EXTERNAL, startOnAnyServer } from "./any-server-kit.js";
import { launchRequest, REF } from "./driver-kit.js";

type Started = Awaited<ReturnType<typeof startOnAnyServer>>;

/** The two versions differ in a field, and nobody converts it there: agent-sandbox brings a webhook for that. */
const VERSIONS = EXTERNAL === undefined ? SANDBOX_VERSIONS : (["v1beta1"] as const);
const NO_ALPHA = EXTERNAL === undefined ? "" : " (v1alpha1 left out: the server under test converts nothing)";

const silent = { report: () => undefined };

async function fill(on: Started, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `box-${String(index).padStart(3, "0")}`);
  for (const name of names) {
    const request = launchRequest(1, { sandbox: { id: `id-${name}`, name } });
    const object = newSandbox("v1beta1", request, parseKubernetesOptions({}), on.settings);
    await on.admin.create(on.path("v1beta1"), object, { signal: on.signal });
  }
  return names;
}

/** Follows the sandboxes, and keeps what it is told. */
function follow(on: Started, pageSize = 500) {
  const closing = new AbortController();
  const told: string[] = [];
  let lists = 0;
  const reflector = new Reflector({
    client: on.client(),
    clock: systemClock,
    random: seededRandom(4),
    path: on.path("v1beta1"),
    query: {},
    pageSize,
    sink: {
      listing: () => void told.push("listing"),
      page: (items) => void told.push(...items.map((item) => `has ${nameOf(item)}`)),
      listed: () => {
        lists += 1;
        told.push("listed");
      },
      changed: (object: Plain) => void told.push(`changed ${nameOf(object)}`),
      deleted: (object: Plain) => void told.push(`deleted ${nameOf(object)}`),
      opened: () => void told.push("opened"),
      interrupted: () => void told.push("interrupted"),
    },
  });
  const running = reflector.run(closing.signal);
  const hears = (what: string, times = 1): Promise<boolean> =>
    eventually(
      `${what} in ${told.join(", ")}`,
      () => Promise.resolve(told.filter((each) => each === what).length >= times),
      30_000,
    );
  return {
    told,
    hears,
    lists: () => lists,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("enough"));
      await running;
    },
  };
}

describe(`the driver's requests, against ${AGAINST}`, () => {
  it.each(VERSIONS)(`start, stop, start again and remove one sandbox of %s${NO_ALPHA}`, async (version) => {
    await using on = await startOnAnyServer();
    const driver = on.driver({ version });
    const during = <T>(work: Promise<T>): Promise<T> => on.reconcile(REF.name, version, work);
    const launch = (run: number) => driver.launch(launchRequest(run), { signal: on.signal, ...silent });
    const observe = (run: number) =>
      driver.observe(REF, { instanceId: `instance-${run}`, desired: "running" }, null, { signal: on.signal });
    const first = await during(launch(1));
    const made = await on.sandbox(REF.name, version);
    expect(first).toMatchObject({ uid: uidOf(made ?? {}), pod: REF.name });
    expect(made).not.toHaveProperty(["metadata", "annotations", BOOTSTRAP_KEY]);
    expect(await observe(1)).toMatchObject({ running: true, instanceId: "instance-1", bootstrapping: false });
    const writes = (): number => on.sent.filter(({ method }) => method !== "GET").length;
    const before = writes();
    expect(await during(launch(1))).toEqual(first);
    expect(writes()).toBe(before);
    await during(driver.stop(REF, { signal: on.signal }));
    expect(await observe(1)).toMatchObject({ suspended: true, running: false, workload: "absent" });
    await during(launch(2));
    expect(await observe(2)).toMatchObject({ running: true, instanceId: "instance-2" });
    expect(await observe(1)).toMatchObject({ stale: true });
    expect(uidOf((await on.sandbox(REF.name, version)) ?? {})).toBe(uidOf(made ?? {}));
    await during(driver.cleanUp(REF, { signal: on.signal }));
    await during(driver.remove(REF, { signal: on.signal }));
    expect(await on.sandbox(REF.name, version)).toBeNull();
    expect(await observe(2)).toMatchObject({ exists: false });
  });

  it("find out which version the server has", async () => {
    await using on = await startOnAnyServer();
    const driver = on.driver();
    const { signal } = on;
    expect(await driver.observe(REF, {}, null, { signal })).toMatchObject({ exists: false });
    expect(on.sent.map(({ path }) => path)).toContain(on.path("v1beta1", REF.name));
  });

  it("put phase, reason and message where `kubectl get` shows them", async () => {
    await using on = await startOnAnyServer();
    const { namespace } = on;
    const store = new ResourceStore({ client: on.client(), clock: systemClock, namespace, gateway: "gw" });
    const value = {
      phase: "Error",
      reason: "BootstrapFailed",
      message: "the certificate is not to be trusted",
    };
    expect(await store.insert({ id: "sb-1", name: "box", dueAt: null, value })).toBe("inserted");
    const { rows } = await on.table(
      `/apis/${RECORD_GROUP}/${RECORD_VERSION}/namespaces/${namespace}/sandboxrecords`,
    );
    expect(rows[0]?.cells.slice(0, 4)).toEqual(["box", value.phase, value.reason, value.message]);
    await store.close();
  });

  it("are decided on again when somebody wrote in between, and overwrite nothing", async () => {
    await using on = await startOnAnyServer();
    const driver = on.driver({ version: "v1beta1" });
    let written = 0;
    on.tampering.before = async (request) => {
      if (request.method === "PATCH" && request.path.includes("/sandboxes/") && written < 3) {
        written += 1;
        const change = { metadata: { annotations: { [`other/${written}`]: "kept" } } };
        await on.admin.patch(on.path("v1beta1", REF.name), change, { signal: on.signal });
      }
      return request;
    };
    const launched = driver.launch(launchRequest(1), { signal: on.signal, ...silent });
    await on.reconcile(REF.name, "v1beta1", launched);
    expect(on.sent.filter(({ method, status }) => method === "PATCH" && status === 409)).toHaveLength(3);
    expect(await on.sandbox(REF.name)).toMatchObject({
      metadata: { annotations: { "other/1": "kept", "other/2": "kept", "other/3": "kept" } },
      spec: intentOf("v1beta1", true),
    });
  });

  it("go through a list page by page, and begin again in one piece where its token is too old", async () => {
    await using on = await startOnAnyServer();
    const names = await fill(on, 25);
    const pages = await collect(on);
    expect(pages).toEqual({ names, pages: 3, restarts: 0 });
    await on.compact();
    on.tampering.before = (request) => {
      const url = new URL(request.path, "https://any");
      const token = url.searchParams.get("continue");
      if (token === null) return request;
      url.searchParams.set("continue", aged(token));
      return { ...request, path: `${url.pathname}?${url.searchParams.toString()}` };
    };
    expect(await collect(on)).toEqual({ names, pages: 2, restarts: 1 });
    expect(on.sent.filter(({ status }) => status === 410)).toHaveLength(1);
    delete on.tampering.before;
    const driver = on.driver({ version: "v1beta1", pageSize: 10 });
    const seen: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page = await driver.list(cursor, { signal: on.signal });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      if (cursor === null) break;
    }
    expect(seen.sort()).toEqual(names.map((name) => `id-${name}`));
  });

  it("follow changes, resume a watch that broke where it was, and list nothing again", async () => {
    await using on = await startOnAnyServer();
    const [name = ""] = await fill(on, 2);
    await using followed = follow(on);
    await followed.hears("opened");
    const touch = (value: string) =>
      on.admin.patch(
        on.path("v1beta1", name),
        { metadata: { annotations: { touched: value } } },
        { signal: on.signal },
      );
    await touch("1");
    await followed.hears(`changed ${name}`);
    on.breakStreams();
    await followed.hears("interrupted");
    await touch("2");
    await on.admin.delete(on.path("v1beta1", "box-001"), {}, { signal: on.signal });
    await followed.hears(`changed ${name}`, 2);
    await followed.hears("deleted box-001");
    expect(followed.lists()).toBe(1);
    expect(followed.told.filter((each) => each === `changed ${name}`)).toHaveLength(2);
  });

  it("list anew, and only once, where a watch would go on from a version that is too old", async () => {
    await using on = await startOnAnyServer();
    await fill(on, 3);
    await using followed = follow(on, 2);
    await followed.hears("opened");
    let aged410 = 0;
    on.tampering.before = (request) => {
      const url = new URL(request.path, "https://any");
      if (url.searchParams.get("watch") !== "true" || aged410 > 0) return request;
      aged410 += 1;
      url.searchParams.set("resourceVersion", "1");
      return { ...request, path: `${url.pathname}?${url.searchParams.toString()}` };
    };
    on.breakStreams();
    await followed.hears("listed", 2);
    await followed.hears("opened", 3);
    await on.admin.delete(on.path("v1beta1", "box-000"), {}, { signal: on.signal });
    await followed.hears("deleted box-000");
    expect(followed.lists()).toBe(2);
  });
});

/** The token of a listing that began before everything. */
function aged(token: string): string {
  const parts = JSON.parse(Buffer.from(token, "base64url").toString()) as object;
  return Buffer.from(JSON.stringify({ ...parts, rv: 1 })).toString("base64url");
}

async function collect(on: Started) {
  const names: string[] = [];
  let [pages, restarts] = [0, 0];
  const take = {
    restart: () => {
      names.length = 0;
      restarts += 1;
    },
    page: (items: readonly Plain[]) => {
      pages += 1;
      names.push(...items.map(nameOf));
    },
  };
  await listAll(on.client(), { path: on.path("v1beta1"), query: {}, pageSize: 10 }, take, on.signal);
  return { names, pages, restarts };
}
