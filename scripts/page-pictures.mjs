/**
 * Takes the pictures of the example gateway's live page, light and dark, from a real gateway in a real Chromium.
 * Needs a build, and Chromium.
 *
 *   node scripts/page-pictures.mjs [FOLDER]
 */
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium, startChromium } from "./chromium.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.argv[2] ?? join(root, "docs", "images");
const MAX_BYTES = 150_000;

const executable = findChromium();
if (executable === null) {
  console.error("There is no Chromium: install it, or name it in CHROMIUM_PATH.");
  process.exit(1);
}
const { GatewayProcess, GatewayClient, eventually } = await tools();
const dir = await mkdtemp(join(tmpdir(), "slipway-pictures-"));
const gateway = new GatewayProcess({ dataDir: dir, args: [] });
const browser = await startChromium(executable);
let client;
try {
  const url = await gateway.start();
  client = new GatewayClient({ url });
  const chosen = await stageScene(client);
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1060, height: 700 } });
    for (const [name, id] of Object.entries(chosen)) {
      await page.goto(`${url}/#${id}`);
      await page.reload();
      await page.locator("#detail-body").waitFor();
      const path = join(folder, `live-page-${name}-${colorScheme}.png`);
      await page.screenshot({ path, animations: "disabled" });
      const { size } = await stat(path);
      console.log(`${path}: ${size} bytes`);
      if (size > MAX_BYTES) throw new Error(`a picture may have ${MAX_BYTES} bytes`);
    }
    await page.close();
  }
} finally {
  // Sandboxes outlive their gateway unless they are deleted.
  for (const { id } of (await client?.list({ limit: 500 }))?.items ?? []) await client.delete(id);
  await eventually("nothing left", async () => ((await client?.list())?.items ?? []).length === 0);
  await browser.close();
  await gateway.end("SIGTERM");
  await rm(dir, { recursive: true, force: true });
}

async function tools() {
  const dist = new URL("../examples/gateway-core/dist/", import.meta.url);
  return {
    ...(await import(new URL("testing/index.js", dist))),
    ...(await import(new URL("index.js", dist))),
  };
}

/** Sandboxes in the phases that there are most to see of; the ids of those to show in full. */
async function stageScene(client) {
  const image = join(dir, "image");
  await mkdir(image);
  await writeFile(join(image, "disk"), Buffer.alloc(60_000_000, "x"));
  const small = join(dir, "small");
  await mkdir(small);
  await writeFile(join(small, "tool"), Buffer.alloc(3_000_000, "x"));
  const create = (name, fields) =>
    client.create({ name, driver: "process", image: { path: small }, command: ["sleep", "600"], ...fields });
  const until = (id, phase, seen = () => true) =>
    eventually(`${id} ${phase}`, async () => {
      const view = await client.get(id);
      return view.phase === phase && seen(view);
    });
  const rejecting = { version: 1, network: { allow: ["nowhere"] } };
  const ready = await create("api-server", {});
  const done = await create("nightly-report", { command: ["true"] });
  const stopped = await create("playground", {});
  const stalled = await create("stalled-download", {
    budgets: { stallMs: 1000 },
    driverOptions: { fault: { stallAtBytes: 1_000_000 } },
  });
  const repair = await create("policy-repair", { policy: rejecting, budgets: { admissionMs: 60_000 } });
  const admission = (view) => (view.deadline?.rejection ?? null) !== null;
  await eventually("a rejection", async () => admission(await client.get(repair.id)));
  await until(ready.id, "Ready");
  await until(stopped.id, "Ready");
  await client.stop(stopped.id);
  await until(stopped.id, "Stopped");
  await until(done.id, "Completed");
  await until(stalled.id, "Error");
  const big = { path: image, name: "node-v20-with-tools" };
  const work = await create("image-build", { image: big, driverOptions: { bytesPerSecond: 1_500_000 } });
  await eventually("some bytes", async () =>
    (await client.get(work.id)).steps.some(({ position }) => position > 1_000_000),
  );
  const another = { version: 1, network: { allow: ["somewhere"] } };
  await eventually(
    "time for a repair",
    async () => (await client.get(repair.id)).deadline.remainingMs < 45_000,
  );
  await client.update(repair.id, { policy: another });
  await eventually(
    "a second rejection",
    async () => (await client.get(repair.id)).deadline.rejection?.generation === 2,
  );
  return { progress: work.id, repair: repair.id };
}
