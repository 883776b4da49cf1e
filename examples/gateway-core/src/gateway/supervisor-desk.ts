import type { Clock } from "slipway";
import {
  applyReport,
  saysNotReplayed,
  type ReportResult,
  type SupervisorReport,
} from "../decide/supervisor-report.js";
import type { Activations } from "./activations.js";
import type { Refusals } from "./refusals.js";
import { NoSuchSandboxError, type SandboxRecords, type VersionedRecord } from "./sandbox-records.js";
import { discreetReport, secretsOf } from "./secrets.js";
import type { Sessions } from "./sessions.js";
import { authenticateSupervisor } from "./supervisor-auth.js";

export interface SupervisorDeskOptions {
  readonly records: SandboxRecords;
  readonly activations: Activations;
  readonly sessions: Sessions;
  readonly refusals: Refusals;
  readonly clock: Clock;
}

/** Where supervisors come with their tokens: what they may read, and what their reports change. */
export class SupervisorDesk {
  readonly #options: SupervisorDeskOptions;

  constructor(options: SupervisorDeskOptions) {
    this.#options = options;
  }

  /** The record a supervisor may read, or why it may not. */
  async authenticate(
    id: string,
    token: string,
    run: number,
  ): Promise<VersionedRecord | "unauthorized" | "stale-run"> {
    const found = await this.#options.records.read(id);
    const auth = authenticateSupervisor(found?.record ?? null, token, run);
    if (auth.ok && found !== null) {
      const { instance } = found.record;
      if (instance !== null) this.#options.sessions.note(id, instance.id, this.#options.clock.now());
      return found;
    }
    const code = auth.ok ? "unauthorized" : auth.code;
    if (found !== null) this.#options.refusals.note(id, "supervisor", code, this.#options.clock.now());
    return code;
  }

  async report(id: string, token: string, run: number, report: SupervisorReport): Promise<ReportResult> {
    const refuse = (code: string): ReportResult => ({
      ok: false,
      code,
      message: `the report was refused: ${code}`,
    });
    try {
      const wasStarted = saysNotReplayed(report) && (await this.#wasStarted(id, run));
      const { record, result } = await this.#options.records.change(id, (record, now) => {
        // Looked at inside the loop: another attempt may have begun since the last read.
        const auth = authenticateSupervisor(record, token, run);
        if (!auth.ok) return { record, result: refuse(auth.code) };
        return applyReport(record, run, discreetReport(report, secretsOf(record)), now, wasStarted);
      });
      if (result.ok && report.kind === "exited") await this.#options.activations.complete(record);
      if (!result.ok)
        this.#options.refusals.note(id, `report ${report.kind}`, result.code, this.#options.clock.now());
      return result;
    } catch (error) {
      if (error instanceof NoSuchSandboxError) return refuse("unauthorized");
      throw error;
    }
  }

  /** Whether the ledger has it that the main process of this run was started. A run's number is given once. */
  async #wasStarted(id: string, run: number): Promise<boolean> {
    const found = await this.#options.records.read(id);
    return found?.record.run === run && (await this.#options.activations.isActive(found.record));
  }
}
