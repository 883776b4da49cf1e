import { middleOf } from "@slipway-examples/gateway-core";
import { seededRandom } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { ClusterTime } from "../src/api/cluster-time.js";

const HOUR = 3_600_000;
const BEGAN = 1_800_000_000_000;

/** Answers by a cluster that is ahead by so much, to questions that are asked at these instants. */
function answers(time: ClusterTime, aheadMs: number, ...instants: readonly number[]): void {
  for (const at of instants) {
    const sentAt = BEGAN + at;
    time.note(Math.floor((sentAt + aheadMs + 5) / 1000) * 1000, sentAt, sentAt + 10);
  }
}

function every(ms: number, from: number, to: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / ms) }, (_, index) => from + index * ms);
}

const aheadOf = (time: ClusterTime): number => middleOf(time.offset!);

describe("the cluster's time", () => {
  it("is that of its first answer, and decided on after a few that agree", () => {
    const time = new ClusterTime();
    expect(time.offset).toBeNull();
    answers(time, HOUR, 0);
    expect(Math.abs(aheadOf(time) - HOUR)).toBeLessThanOrEqual(510);
    expect(time.isTrusted).toBe(false);
    answers(time, HOUR, 700, 1450);
    expect(time.isTrusted).toBe(true);
    expect(time.heardAt).toBe(BEGAN + 1460);
  });

  it.each([
    ["one answer", [60_000]],
    ["a connection that answers a hundred times in ten seconds", every(100, 60_000, 70_000)],
  ])("does not follow %s of an hour more or less", (_what, wrong) => {
    for (const by of [HOUR, -HOUR]) {
      const time = new ClusterTime();
      answers(time, 1234, ...every(370, 0, 60_000));
      const before = aheadOf(time);
      answers(time, by, ...wrong);
      expect(aheadOf(time)).toBe(before);
      expect(Math.abs(aheadOf(time) - 1234)).toBeLessThan(100);
    }
  });

  it("stays, whoever of three servers answers, where one of them is an hour off", () => {
    const random = seededRandom(7);
    const time = new ClusterTime();
    answers(time, 0, 0, 300, 1100, 1500);
    for (const at of every(400, 2000, HOUR)) {
      answers(time, random() < 1 / 3 ? HOUR : 0, at);
      expect(Math.abs(aheadOf(time))).toBeLessThan(1000);
    }
  });

  it("outvotes a first answer that was wrong before anything is decided on it", () => {
    const time = new ClusterTime();
    answers(time, HOUR, 0);
    answers(time, 0, 600, 1200);
    expect(time.isTrusted).toBe(false);
    answers(time, 0, 1800);
    expect(time.isTrusted).toBe(true);
    expect(Math.abs(aheadOf(time))).toBeLessThanOrEqual(510);
  });

  it.each([700, -700, 400, -400])(
    "follows a cluster whose clock was set by less than a second: %i ms",
    (by) => {
      for (const everyMs of [130, 370, 1700]) {
        const time = new ClusterTime();
        answers(time, 0, ...every(everyMs, 0, 60_000));
        answers(time, by, ...every(everyMs, 60_000, 300_000));
        expect(Math.abs(aheadOf(time) - by)).toBeLessThan(200);
      }
    },
  );

  it.each([700, -700])("stays where one of three servers is less than a second off: %i ms", (by) => {
    const random = seededRandom(11);
    const time = new ClusterTime();
    answers(time, 0, ...every(130, 0, 10_000));
    for (const at of every(370, 10_000, HOUR)) {
      answers(time, random() < 1 / 3 ? by : 0, at);
      expect(Math.abs(aheadOf(time))).toBeLessThan(200);
    }
  });

  it("follows a cluster whose clock was set, after about half a minute of its answers", () => {
    const time = new ClusterTime();
    answers(time, 0, ...every(370, 0, 60_000));
    answers(time, -HOUR, ...every(370, 60_000, 85_000));
    expect(Math.abs(aheadOf(time))).toBeLessThan(100);
    answers(time, -HOUR, ...every(370, 85_000, 95_000));
    expect(Math.abs(aheadOf(time) + HOUR)).toBeLessThan(100);
  });
});
