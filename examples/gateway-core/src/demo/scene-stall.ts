import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SqliteStore } from "../store/sqlite-store.js";
import type { SandboxView } from "../http/view.js";
import { formatDuration, formatSize } from "slipway/progress";
import { imageStep } from "./scene-create.js";
import { STALL_MS, type Stage } from "./stage.js";

/** A preparation that stops moving ends at its own deadline, says why, and leaves nothing. */
export async function sceneStall(stage: Stage): Promise<void> {
  const { report, image } = stage;
  const stallAtBytes = Math.floor(image.programBytes / 3);
  report.heading(
    `3. A preparation that stalls at ${formatSize(stallAtBytes)} (stall limit ${formatDuration(STALL_MS)})`,
  );
  const fault = { stallAtBytes, repeatReports: true };
  const created = await stage.createSmall("stalled", {
    budgets: { stallMs: STALL_MS },
    driverOptions: { fault },
  });
  const staging = join(stage.sandboxDir(created), "staging");
  await stage.until(created.id, "stalled", (view) => imageStep(view)?.position === stallAtBytes);
  report.check(
    (await stage.namesIn(staging)).length > 0,
    `staged on disk: ${(await stage.namesIn(staging)).join()}`,
  );
  const expired = await stage.firstEvent(created.id, (view) => view.deadline?.status === "expired");
  const { expiry, cleanup } = expired.deadline ?? {};
  report.check(expired.phase === "Error", `phase ${expired.phase}, reason ${expired.reason}`);
  report.check(
    expiry?.limitedBy === "stall",
    `limited by ${String(expiry?.limitedBy)}: ${expiry?.message ?? ""}`,
  );
  report.note(
    `due at ${time(expiry?.at)}, written ${(expiry?.observedAt ?? 0) - (expiry?.at ?? 0)} ms later`,
  );
  report.check(
    cleanup?.status === "pending",
    `when the expiry was written, its cleanup was ${String(cleanup?.status)}`,
  );
  const duplicates = refusals(expired, "duplicate");
  report.check(
    duplicates > 0,
    `the driver repeated its last position ${duplicates} times meanwhile: all refused as duplicate`,
  );
  const clean = await stage.until(
    created.id,
    "cleaned up",
    (view) => view.deadline?.cleanup.status === "done",
  );
  report.check(
    clean.deadline?.cleanup.status === "done",
    `cleanup ${String(clean.deadline?.cleanup.status)} after ${clean.deadline?.cleanup.claims ?? 0} claim`,
  );
  report.check((await stage.namesIn(staging)).length === 0, "nothing staged on disk any more");
}

/** Late news, from a driver that did not listen and from a supervisor with the true secret, revives nothing. */
export async function sceneLateNews(stage: Stage): Promise<void> {
  const { report, image } = stage;
  report.heading("7. An expired attempt is not revived by late news");
  const fault = { stallAtBytes: Math.floor(image.programBytes / 3), repeatReports: true, deafForMs: 1500 };
  const deaf = await stage.createSmall("deaf", { budgets: { stallMs: STALL_MS }, driverOptions: { fault } });
  const rejected = await stage.createSmall("unrepaired", {
    policy: INVALID_POLICY,
    budgets: { admissionMs: 1000 },
  });
  const expired = await stage.firstEvent(deaf.id, (view) => view.deadline?.status === "expired");
  const late = await stage.until(
    deaf.id,
    "late progress",
    (view) => refusals(view, "settled") + refusals(view, "expired") > 0,
  );
  report.check(
    late.phase === "Error" && late.deadline?.expiry?.at === expired.deadline?.expiry?.at,
    `progress after the expiry: refused ${refusals(late, "settled") + refusals(late, "expired")} times, phase ${late.phase}, expiry where it was`,
  );
  const over = await stage.until(
    rejected.id,
    "expired and clean",
    (view) => view.deadline?.cleanup.status === "done",
  );
  report.check(over.reason === "ProvisioningTimedOut", `the unrepaired one: ${over.reason}; ${over.message}`);
  const answer = await reportWithTrueToken(stage, over);
  report.check(
    answer.startsWith("410"),
    `its supervisor's late acceptance, with the attempt's own secret: HTTP ${answer}`,
  );
  await delay(100);
  const after = await stage.client.get(rejected.id);
  report.check(
    after.phase === "Error" && after.deadline?.version === over.deadline?.version,
    `phase ${after.phase}, deadline at version ${after.deadline?.version ?? 0} as before`,
  );
}

export const INVALID_POLICY = { version: 1, network: { allow: ["example.org"] } };

/** Plays the supervisor of an attempt: the secret is read from the gateway's own file, for no API shows it. */
async function reportWithTrueToken(stage: Stage, view: SandboxView): Promise<string> {
  const store = new SqliteStore(join(stage.dataDir, "gateway.db"));
  const stored = await store.get(view.id);
  await store.close();
  const { attempt } = stored?.value["deadline"] as { attempt: string };
  const response = await fetch(`${stage.client.url}/v1/supervisor/${view.id}/report`, {
    method: "POST",
    headers: { authorization: `Bearer ${attempt}`, "x-slipway-run": String(view.run) },
    body: JSON.stringify({ kind: "accepted", generation: view.configuration.generation }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${error?.code ?? ""}`;
}

export function refusals(view: SandboxView, why: string): number {
  const found = view.refusals.filter((refusal) => refusal.event === "progress" && refusal.why === why);
  return found.reduce((sum, refusal) => sum + refusal.count, 0);
}

function time(at: number | undefined): string {
  return at === undefined ? "never" : new Date(at).toISOString().slice(11, 23);
}
