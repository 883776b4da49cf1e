import { VirtualClock } from "slipway/testing";
import { expect, it } from "vitest";
import { ByteReports } from "../src/image/byte-reports.js";

function reports(): { clock: VirtualClock; told: number[]; bytes: ByteReports } {
  const clock = new VirtualClock();
  const told: number[] = [];
  return { clock, told, bytes: new ByteReports(clock, (count) => void told.push(count)) };
}

it("tells the first count at once, then the latest of each interval", () => {
  const { clock, told, bytes } = reports();
  for (let count = 0; count <= 100; count += 1) {
    bytes.see(count);
    clock.advance(10);
  }
  expect(told).toEqual([0, 24, 49, 74, 99]);
});

it("tells the count at which bytes stopped, though nothing comes after it", () => {
  const { clock, told, bytes } = reports();
  bytes.see(0);
  bytes.see(50_000_000);
  expect(told).toEqual([0]);
  clock.advance(250);
  expect(told).toEqual([0, 50_000_000]);
  clock.advance(10_000);
  expect(told).toEqual([0, 50_000_000]);
});

it("tells nothing twice, and nothing once it is closed", () => {
  const { clock, told, bytes } = reports();
  bytes.see(1);
  bytes.see(2);
  bytes.flush();
  bytes.flush();
  bytes.see(3);
  bytes.close();
  clock.advance(1000);
  expect([told, bytes.bytes]).toEqual([[1, 2], 3]);
});
