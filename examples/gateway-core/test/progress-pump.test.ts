import { describe, expect, it } from "vitest";
import type { DriverProgress } from "../src/driver/driver.js";
import { ProgressPump } from "../src/gateway/progress-pump.js";
import { imageReport } from "./step-reports.js";

/** What was committed of reports that all came while the first was being written. */
async function committed(...reports: readonly DriverProgress[]): Promise<readonly DriverProgress[]> {
  const seen: DriverProgress[] = [];
  const ignore = (): void => undefined;
  const pump = new ProgressPump({
    commit: (progress) => {
      seen.push(progress);
      return Promise.resolve({ applied: true });
    },
    onRefused: ignore,
    onOvertaken: ignore,
    onError: (error) => {
      throw error;
    },
  });
  for (const report of reports) pump.push(report);
  await pump.drained();
  return seen;
}

describe("reports that come faster than they are written", () => {
  it("are one for each step, the furthest", async () => {
    const reports = [1, 2, 3, 4].map((position) => imageReport(position));
    expect(await committed(...reports)).toEqual([reports[0], reports[3]]);
  });

  it("of time that goes by are one as well, and no bytes are lost for it", async () => {
    const busy = (busySeconds: number, position?: number) => imageReport(position, { busySeconds });
    const reports = [busy(1), busy(2), busy(3), busy(4, 9), busy(5)];
    expect(await committed(...reports)).toEqual([reports[0], reports[3], reports[4]]);
  });

  it("of several layers are one for each, for they add up", async () => {
    const layer = (part: string, position: number) => imageReport(position, { part });
    expect(await committed(layer("a", 1), layer("a", 5), layer("b", 7), layer("a", 9))).toEqual([
      layer("a", 1),
      layer("a", 5),
      layer("b", 7),
      layer("a", 9),
    ]);
  });

  it("lose neither the end of a step, nor the beginning and the end of a wait", async () => {
    const [done, again] = [imageReport(4, { done: true }), imageReport(9)];
    const wait = imageReport(5, { waiting: true });
    const reports = [imageReport(1), done, again, wait, imageReport(12)];
    expect(await committed(...reports)).toEqual(reports);
  });

  it("about another image do not take the place of this one's", async () => {
    const reports = [imageReport(1), imageReport(2), imageReport(512_000_000, { subject: "bootstrap:1" })];
    expect(await committed(...reports)).toEqual(reports);
  });
});
