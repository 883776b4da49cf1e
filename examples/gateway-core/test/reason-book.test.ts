import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PermanentDriverError } from "../src/driver/driver.js";
import { ReasonBook } from "../src/gateway/reason-book.js";
import { closestWord } from "../src/record/closest-word.js";
import { gatewayReasons } from "../src/record/reasons.js";
import { Bench } from "./bench.js";
import { FakeDriver } from "./fake-driver.js";

type Line = Readonly<Record<string, unknown>>;

let bench: Bench;
let logged: Line[];
const log = (event: string, fields: Line): void => void logged.push({ event, ...fields });
const unknown = () => logged.filter(({ event }) => String(event).endsWith("-unknown"));

beforeEach(async () => {
  bench = await Bench.open();
  logged = [];
});

afterEach(() => bench.close());

describe("a reason that no catalog has", () => {
  it("is said where a gateway is to restart on it, with the one that was meant", async () => {
    const restartOn = ["ImagePreperationTimedOut", "MainProcessFailed", "SomethingElse"];
    await bench.gateway("one", { log, policy: { restartOn } });
    const why = "no catalog has this reason: nothing may end so";
    expect(unknown()).toEqual([
      {
        event: "restart-on-unknown",
        reason: "ImagePreperationTimedOut",
        why,
        didYouMean: "ImagePreparationTimedOut",
      },
      { event: "restart-on-unknown", reason: "SomethingElse", why },
    ]);
  });

  it("is said once where a driver fails with it, and the sandbox keeps it", async () => {
    const gateway = await bench.gateway("one", { log });
    for (const name of ["one", "two"]) {
      const { record } = await gateway.create({ ...bench.request, name });
      await bench.settle();
      bench.driver.launches.at(-1)?.fail(new PermanentDriverError("LocalImageNotFund", "no such image"));
      await bench.settle();
      expect(await bench.read(gateway, record.id)).toMatchObject({
        phase: "Error",
        reason: "LocalImageNotFund",
      });
    }
    expect(unknown()).toMatchObject([
      {
        event: "reason-unknown",
        driver: "fake",
        reason: "LocalImageNotFund",
        didYouMean: "LocalImageNotFound",
      },
    ]);
  });

  it("is none where its driver names it, nor where the gateway's catalog has it", () => {
    const driver = Object.assign(new FakeDriver(), { reasons: ["MineNotFound"] });
    const book = new ReasonBook([driver], log);
    book.configured(["MineNotFound", ...Object.keys(gatewayReasons.reasons)]);
    book.failed("fake", "MineNotFound");
    expect(logged).toEqual([]);
  });

  it("is said so often and no more by a driver that makes its reasons up", () => {
    const book = new ReasonBook([bench.driver], log);
    for (let at = 0; at < 1000; at += 1) book.failed("fake", `MadeUp${at}`);
    expect(logged).toHaveLength(100);
  });
});

describe("the closest word", () => {
  it.each([
    ["ImagePreperationTimedOut", "ImagePreparationTimedOut"],
    ["imagepreparationtimedout", "ImagePreparationTimedOut"],
    ["MainProcesFailed", "MainProcessFailed"],
    ["Kiled", "Killed"],
    ["SomethingElse", null],
    ["", null],
  ])("to %j is %j", (word, meant) => {
    expect(closestWord(word, ["MainProcessFailed", "ImagePreparationTimedOut", "Killed"])).toBe(meant);
  });
});
