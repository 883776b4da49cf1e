import { PhasedDeadline, readDeadline, type DeadlineState } from "../../src/deadline/index.js";
import { decodeDeadlineState } from "../../src/schema/index.js";
import type { VirtualClock } from "../../src/testing/index.js";
import { D1, sec } from "./support.js";

export const reading = (state: DeadlineState, seconds: number) => readDeadline(state, sec(seconds));
export const stored = (state: DeadlineState): DeadlineState =>
  decodeDeadlineState(JSON.parse(JSON.stringify(state)));
export const live = (clock: VirtualClock, plan = D1): PhasedDeadline =>
  PhasedDeadline.start(plan, { attempt: "a1", clock, configuration: { generation: 1 } });
