import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { SandboxView } from "../http/view.js";
import { formatDuration, formatSize } from "slipway/progress";
import { imageStep } from "./scene-create.js";
import { refusals } from "./scene-stall.js";
import type { Stage } from "./stage.js";

const DOWN_MS = 700;

/** A gateway that is killed in the middle: the deadline stands in the record and does not move. */
export async function sceneKill(stage: Stage, running: SandboxView): Promise<void> {
  const { report, image } = stage;
  report.heading("4. The gateway is killed in the middle of a preparation and started again");
  const created = await stage.createSmall("survivor", {
    driverOptions: { bytesPerSecond: Math.ceil(image.programBytes / 2) },
  });
  const before = await stage.until(
    created.id,
    "half way",
    (view) => (imageStep(view)?.position ?? 0) > image.programBytes / 3,
  );
  report.note(
    `run ${before.run}, ${formatSize(imageStep(before)?.position ?? 0)} copied, deadlineAt ${instant(before)}`,
  );
  report.check((await stage.gateway.end("SIGKILL")) === "SIGKILL", "the gateway was ended by SIGKILL");
  const staging = join(stage.sandboxDir(created), "staging");
  report.note(
    `left on disk: ${(await stage.namesIn(staging)).join() || "nothing"}; no gateway for ${formatDuration(DOWN_MS)}`,
  );
  await delay(DOWN_MS);
  await stage.restart();
  const after = await stage.until(
    created.id,
    "run 2",
    (view) => view.run > before.run && imageStep(view)?.status === "running",
  );
  report.check(
    after.deadline?.deadlineAt === before.deadline?.deadlineAt,
    `after the restart: run ${after.run}, deadlineAt ${instant(after)}`,
  );
  report.check(
    after.attempt === before.attempt && after.deadline?.startedAt === before.deadline?.startedAt,
    `the same attempt ${after.attempt}, started at the same instant`,
  );
  const adopted = await stage.client.get(running.id);
  const same = adopted.phase === "Ready" && adopted.run === running.run;
  report.check(same, `the sandbox of scene 1 was found again: ${adopted.phase}, still run ${adopted.run}`);
  const ready = await stage.until(created.id, "Ready", ({ phase }) => phase === "Ready" || phase === "Error");
  report.check(ready.phase === "Ready", `phase ${ready.phase}`);
  report.check((await stage.namesIn(staging)).length === 0, "the staging of the interrupted run is gone");
}

/** Repetition and writes of the same content are not news. */
export async function sceneNoNews(stage: Stage): Promise<void> {
  const { report, image } = stage;
  report.heading("5. Duplicate progress and a settings write of the same content move nothing");
  const created = await stage.createSmall("repeating", {
    driverOptions: { bytesPerSecond: Math.ceil(image.programBytes / 2), fault: { repeatReports: true } },
  });
  const before = await stage.until(created.id, "duplicates", (view) => refusals(view, "duplicate") >= 2);
  const { policy } = before.configuration;
  const written = await stage.client.update(created.id, { policy });
  report.check(
    written.sameContent && !written.renewed,
    `write of the same policy: generation ${before.configuration.generation} → ${written.configuration.generation}, same digest, renewed: ${String(written.renewed)}`,
  );
  const after = await stage.until(created.id, "more duplicates", (view) => refusals(view, "duplicate") >= 4);
  report.check(
    after.deadline?.deadlineAt === before.deadline?.deadlineAt,
    `${refusals(after, "duplicate")} duplicates refused, deadlineAt ${instant(before)} → ${instant(after)}`,
  );
  const ceiling = after.deadline?.bounds["attempt-ceiling"];
  report.check(
    ceiling === before.deadline?.bounds["attempt-ceiling"],
    "the attempt's ceiling is where it was",
  );
}

export function instant(view: SandboxView): string {
  const at = view.deadline?.deadlineAt ?? null;
  return at === null ? "none" : new Date(at).toISOString().slice(11, 23);
}
