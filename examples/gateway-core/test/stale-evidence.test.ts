import { observeProcess } from "slipway";
import { expect, it } from "vitest";
import { settleStop } from "../src/decide/ended.js";
import { recoverAtStartUp } from "../src/decide/recovery-plan.js";
import { recordWith, NOW } from "./records.js";

/** A moment after the record's attempt began. */
const AT = NOW - 55_000;
/** A gateway looked, was held up, and decides only now. */
const seen = observeProcess({ process: null, stateDir: { exists: true } }, { observedAt: AT - 1500 });
const instance = { id: "sb/r2", run: 2, handle: null, startedAt: AT - 3000, launchedAt: AT - 2000 };

it("what a stop of an earlier run came to does not end the stop of a later one", () => {
  const record = recordWith({ phase: "Stopping", desired: "stopped", run: 2, instance, since: AT - 1000 });
  const ended = { failed: false, observation: seen, policy: {} };
  expect(settleStop(record, { ...ended, run: 1 }, AT).record).toBe(record);
  expect(settleStop(record, { ...ended, run: 2 }, AT).record.phase).toBe("Stopped");
});

it("what was seen of an earlier run says nothing of one that another gateway has begun since", () => {
  const record = recordWith({ run: 2, instance, phase: "Provisioning" });
  const context = { managesLifecycle: true, observation: seen, policy: {} };
  expect(recoverAtStartUp(record, { ...context, run: 1 }, AT).result).toBe("wait");
  expect(recoverAtStartUp(record, { ...context, run: 2 }, AT).result).toBe("done");
});
