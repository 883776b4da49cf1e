import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxView } from "../http/view.js";
import { formatDuration, formatSize, formatStep } from "slipway/progress";
import { sizeOf } from "./node-image.js";
import { ADMISSION_MS, OLD_SHARED_WINDOW_MS, type Stage } from "./stage.js";

/** A create as it should go: bytes that move, admission by the supervisor's own report, a program that runs. */
export async function sceneCreate(stage: Stage): Promise<SandboxView> {
  const { report, image } = stage;
  report.heading(
    `1. A create from this machine's Node installation (${image.name}, ${formatSize(image.bytes)})`,
  );
  const created = await stage.create("first", {
    driverOptions: { bytesPerSecond: Math.ceil(image.bytes / 1.2) },
  });
  const seen: number[] = [];
  const ready = await stage.firstEvent(created.id, (view) => {
    const position = imageStep(view)?.position ?? null;
    if (position !== null && position !== seen.at(-1)) seen.push(position);
    return view.phase === "Ready" || view.phase === "Error";
  });
  const some = seen.filter(
    (_, index) => index % Math.ceil(seen.length / 8) === 0 || index === seen.length - 1,
  );
  report.note(`bytes seen on the event stream: ${some.map(formatSize).join(" → ")}`);
  report.check(isRising(seen) && seen.length >= 3, `${seen.length} positions, each above the one before`);
  for (const step of ready.steps) report.note(formatStep(step));
  report.check(ready.phase === "Ready", `phase ${ready.phase}, admission ${String(ready.admission)}`);
  const copied = await sizeOf(join(stage.sandboxDir(ready), "image", "rootfs"));
  report.check(copied === image.bytes, `on disk: ${copied ?? 0} bytes, the size of the source`);
  const workspace = join(stage.sandboxDir(ready), "workspace");
  const ranWith = await untilWritten(join(workspace, "ran-with"));
  report.check(
    ranWith.startsWith(stage.sandboxDir(ready)),
    `the workload runs the copied program: ${ranWith.split(" ")[1] ?? ""}`,
  );
  return ready;
}

/** The case that failed: a preparation longer than one shared window, though nothing was wrong. */
export async function sceneSlowPreparation(stage: Stage): Promise<void> {
  const { report, image } = stage;
  report.heading(
    `2. A preparation longer than the old shared window of ${formatDuration(OLD_SHARED_WINDOW_MS)}`,
  );
  const bytesPerSecond = Math.ceil(image.bytes / ((OLD_SHARED_WINDOW_MS + 1200) / 1000));
  const created = await stage.create("slow", { driverOptions: { bytesPerSecond } });
  const late = await stage.firstEvent(created.id, (view) => elapsed(view) > OLD_SHARED_WINDOW_MS);
  const { position, total } = imageStep(late) ?? {};
  report.check(
    late.deadline?.status === "active" && late.deadline.phase === "preparation",
    `after ${formatDuration(elapsed(late))} it is still ${late.reason}: ${formatSize(position ?? 0)} of ${formatSize(total ?? 0)}`,
  );
  const admitted = await stage.firstEvent(created.id, (view) => view.deadline?.phase === "admission");
  const { phaseEnteredAt = 0, deadlineAt, startedAt = 0 } = admitted.deadline ?? {};
  report.check(
    phaseEnteredAt - startedAt > OLD_SHARED_WINDOW_MS,
    `admission began ${formatDuration(phaseEnteredAt - startedAt)} after the start`,
  );
  const window = (deadlineAt ?? 0) - phaseEnteredAt;
  report.check(window === ADMISSION_MS, `its admission window is ${formatDuration(window)}: the full one`);
  const ready = await stage.until(created.id, "Ready", ({ phase }) => phase === "Ready" || phase === "Error");
  report.check(ready.phase === "Ready", `phase ${ready.phase}`);
}

export function imageStep(view: SandboxView): SandboxView["steps"][number] | undefined {
  return view.steps.find((step) => step.step === "image");
}

function elapsed(view: SandboxView): number {
  return view.deadline?.elapsedMs ?? 0;
}

function isRising(positions: readonly number[]): boolean {
  return positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0));
}

async function untilWritten(path: string): Promise<string> {
  for (let tries = 0; tries < 200; tries += 1) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.endsWith("\n")) return text.trim();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return "nothing was written";
}
