import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";

const INIT = fileURLToPath(new URL("../guest/init", import.meta.url));
const temp = new TempDirs();
afterAll(() => temp.remove());

/** What the guest does when its button is pressed, as its first process has it. */
async function pressOf(): Promise<string> {
  const found = /^supervisor=\n[\s\S]*?^press\(\) \{[\s\S]*?^\}$/m.exec(await readFile(INIT, "utf8"));
  if (found === null) throw new Error("the guest does not say what it does when its button is pressed");
  // Longer than this test takes: what is late is killed then.
  return found[0].replace("sleep 3;", "exit 0;");
}

/** The guest's own is that of busybox, which takes other words for a signal and a group than most. */
const SHELLS = [["sh"], ["busybox", "sh"]].filter(
  ([program = "", ...args]) => spawnSync(program, [...args, "-c", "exit 0"]).status === 0,
);
const NAMED = SHELLS.map((shell) => [shell.join(" "), shell] as const);

// The driver presses every second until the machine is off: one press may have come too early to be heard.
describe.runIf(process.platform === "linux")("a power button that is pressed again", () => {
  it.each(NAMED)("asks the group of the supervisor once, with %s", async (_, [program = "", ...args]) => {
    const ends = join(await temp.make(), "ends");
    const work = `trap 'echo asked >>${ends}' TERM; trap 'echo over >>${ends}; exit' WINCH; echo up >>${ends}
      while :; do sleep 0.01; done`;
    const script = `${await pressOf()}
      end() { echo "$1"; exit 1; }
      wait_for() { until grep -q "$1" ${ends} 2>/dev/null; do sleep 0.01; done; }
      WORK="$1"
      setsid sh -c "$WORK" & supervisor=$!
      wait_for up; press; wait_for asked; press; press
      kill -WINCH "$supervisor"; wait_for over; wait "$supervisor"`;
    await promisify(execFile)(program, [...args, "-c", script, "init", work], {
      timeout: 10_000,
    }).catch((error: unknown) => error);
    // Of signals that wait the lowest number is heard first, so that no request to end is still to come.
    expect((await readFile(ends, "utf8")).trim().split("\n")).toEqual(["up", "asked", "over"]);
  });
});
