import { setTimeout as delay } from "node:timers/promises";
import { formatDuration } from "slipway/progress";
import { instant } from "./scene-restart.js";
import { INVALID_POLICY } from "./scene-stall.js";
import { ADMISSION_MS, type Stage } from "./stage.js";

const SLACK_MS = 1500;

/** An invalid configuration has its own, full window, and a real repair is admitted. */
export async function sceneRepair(stage: Stage): Promise<void> {
  const { report } = stage;
  report.heading(
    `6. An invalid configuration, repaired within its window of ${formatDuration(ADMISSION_MS)}`,
  );
  const created = await stage.createSmall("repaired", { policy: INVALID_POLICY });
  const rejected = await stage.until(created.id, "rejected", (view) => view.admission === "rejected");
  report.check(true, `rejected by the supervisor: ${rejected.deadline?.rejection?.message ?? ""}`);
  const { phaseEnteredAt = 0, deadlineAt, remainingMs } = rejected.deadline ?? {};
  const window = (deadlineAt ?? 0) - phaseEnteredAt;
  report.check(
    window >= ADMISSION_MS && window < ADMISSION_MS + SLACK_MS,
    `its window, opened anew by the rejection, ends ${formatDuration(window)} after admission began; ${formatDuration(remainingMs ?? 0)} are left`,
  );
  await delay(400);
  const noop = await stage.client.update(created.id, { policy: INVALID_POLICY });
  report.check(
    noop.deadline?.deadlineAt === deadlineAt,
    `the same content again: deadlineAt ${instant(rejected)} → ${instant(noop)}`,
  );
  const repaired = await stage.client.update(created.id, {
    policy: { version: 1, network: { allow: ["example.org:443"] } },
  });
  const renewedBy = (repaired.deadline?.deadlineAt ?? 0) - (deadlineAt ?? 0);
  report.check(
    repaired.renewed && renewedBy > 0,
    `a real change: deadlineAt ${instant(rejected)} → ${instant(repaired)}`,
  );
  const ready = await stage.until(created.id, "Ready", ({ phase }) => phase === "Ready" || phase === "Error");
  report.check(ready.phase === "Ready", `phase ${ready.phase} with generation ${ready.appliedGeneration}`);
}
