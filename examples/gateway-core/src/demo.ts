import { join } from "node:path";
import { formatDuration, formatSize } from "slipway/progress";
import { Report } from "./demo/report.js";
import { sceneCreate, sceneSlowPreparation } from "./demo/scene-create.js";
import { sceneRepair } from "./demo/scene-repair.js";
import { sceneKill, sceneNoNews } from "./demo/scene-restart.js";
import { sceneLateNews, sceneStall } from "./demo/scene-stall.js";
import { ADMISSION_MS, OLD_SHARED_WINDOW_MS, PREPARATION_MS, SCALE, STALL_MS, Stage } from "./demo/stage.js";

/** Each line with a mark was read back from the running gateway, from a process or from the disk. */
async function demo(report: Report): Promise<void> {
  const startedAt = Date.now();
  const stage = await Stage.open(report);
  const interrupted = (): void => {
    void stage.close().finally(() => process.exit(130));
  };
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    report.heading(`Budgets, scaled down 1:${SCALE}`);
    report.note(
      `preparation ${formatDuration(PREPARATION_MS)} (30 min), admission ${formatDuration(ADMISSION_MS)} (5 min)`,
    );
    report.note(`stall limit ${formatDuration(STALL_MS)} (2 min), where a scene asks for one`);
    report.note(`the one window that both used to share: ${formatDuration(OLD_SHARED_WINDOW_MS)} (5 min)`);
    report.note(
      `image: ${stage.image.path} (${stage.image.include.join(", ")}), ${formatSize(stage.image.bytes)}`,
    );
    const first = await sceneCreate(stage);
    await sceneSlowPreparation(stage);
    await sceneStall(stage);
    await sceneKill(stage, first);
    await sceneNoNews(stage);
    await sceneRepair(stage);
    await sceneLateNews(stage);
    await sceneEnd(stage);
  } finally {
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    await stage.close();
  }
  report.heading(
    `${report.held} observations held, ${report.failed} did not, in ${formatDuration(Date.now() - startedAt)}`,
  );
}

/** Deletes everything through the API and looks whether anything is left. */
async function sceneEnd(stage: Stage): Promise<void> {
  const { report, client } = stage;
  report.heading("8. Everything is deleted");
  const { items } = await client.list();
  for (const { id } of items) await client.delete(id);
  const giveUpAt = Date.now() + 15_000;
  while ((await client.list()).items.length > 0 && Date.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  report.check((await client.list()).items.length === 0, `${items.length} sandboxes deleted, none listed`);
  const left = await stage.namesIn(join(stage.dataDir, "sandboxes"));
  report.check(left.length === 0, `directories left: ${left.length}`);
  report.check((await stage.gateway.end("SIGTERM")) === 0, "the gateway ended by itself with exit code 0");
}

const report = new Report((line) => console.log(line));
try {
  await demo(report);
  if (report.failed > 0) process.exitCode = 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
