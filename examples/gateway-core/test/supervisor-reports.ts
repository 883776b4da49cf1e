import type { SupervisorReport } from "../src/decide/supervisor-report.js";

/** What a supervisor says of the first configuration. */
export const accepted: SupervisorReport = { kind: "accepted", generation: 1 };
export const ready: SupervisorReport = { kind: "ready", generation: 1 };
