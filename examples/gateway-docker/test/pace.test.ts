import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { Pace } from "../src/image/pace.js";

describe("the pace of reports", () => {
  function paced() {
    const clock = new VirtualClock();
    const told: [number, string, number][] = [];
    const start = clock.now();
    const pace = new Pace<number>(
      clock,
      250,
      (kind, news) => void told.push([clock.now() - start, kind, news]),
    );
    return { clock, pace, told };
  }

  it("tells the first at once, then the latest of each interval, and loses no last word", () => {
    const { clock, pace, told } = paced();
    for (let at = 0; at < 600; at += 10) {
      pace.push("image", at);
      clock.advance(10);
    }
    clock.advance(1000);
    expect(told).toEqual([
      [0, "image", 0],
      [250, "image", 240],
      [500, "image", 490],
      [750, "image", 590],
    ]);
    expect(clock.timers).toBe(0);
  });

  it("keeps kinds apart, and tells an end at once in place of what was held back", () => {
    const { clock, pace, told } = paced();
    pace.push("download", 1);
    pace.push("image", 1);
    pace.push("download", 2);
    pace.push("download", 3, true);
    clock.advance(1000);
    expect(told).toEqual([
      [0, "download", 1],
      [0, "image", 1],
      [0, "download", 3],
    ]);
  });

  it("is silent once it is closed", () => {
    const { clock, pace, told } = paced();
    pace.push("image", 1);
    pace.push("image", 2);
    pace.close();
    clock.advance(1000);
    expect(told.length).toBe(1);
    expect(clock.timers).toBe(0);
  });
});
