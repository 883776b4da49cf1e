import { expect, it } from "vitest";
import { jsonLog, logByStore } from "../src/gateway/log.js";

it("a line has the host's time, and the store's where gateways share one", () => {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => lines.push(line),
    () => 1_800_000_000_000,
  );
  log("alone", { sandbox: "sb" });
  logByStore(log, () => 1_800_000_007_500)("shared", { sandbox: "sb" });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { at: "2027-01-15T08:00:00.000Z", event: "alone", sandbox: "sb" },
    { at: "2027-01-15T08:00:00.000Z", event: "shared", storeAt: "2027-01-15T08:00:07.500Z", sandbox: "sb" },
  ]);
});
