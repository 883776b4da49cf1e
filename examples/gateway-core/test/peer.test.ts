import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressOf } from "../src/http/peer.js";

/** As a system writes an address down: the longest row of zeros left out. */
function written(groups: readonly number[]): string {
  const hex = groups.map((group) => group.toString(16));
  let [from, length] = [-1, 1];
  for (let start = 0; start < 8; start += 1) {
    let end = start;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - start > length) [from, length] = [start, end - start];
  }
  if (from === -1) return hex.join(":");
  return `${hex.slice(0, from).join(":")}::${hex.slice(from + length).join(":")}`;
}

const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const half = fc.tuple(group, group, group, group);

describe("the address that limits go by", () => {
  it("is the same for a whole network of IPv6, however its addresses are written, and another for each", () => {
    fc.assert(
      fc.property(half, half, half, half, (network, one, two, other) => {
        // Addresses of IPv4 within IPv6 are those of IPv4.
        fc.pre([network, other].every((each) => each.some((word) => word !== 0)));
        const name = addressOf(written([...network, ...one]));
        expect(addressOf(written([...network, ...two]))).toBe(name);
        expect(addressOf(written([...other, ...one])) === name).toBe(network.join() === other.join());
      }),
      { seed: 5, numRuns: 2000 },
    );
  });

  it.each([
    ["2001:db8::1", "2001:db8::ffff"],
    ["2001:db8::1", "2001:db8::1:2:3:4"],
    ["2001:db8:1::5", "2001:db8:1:0:a:b:c:d"],
    ["fe80::1%eth0", "fe80::2%eth0"],
    ["fe80::1%eth0.100", "fe80::2%eth0.100"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::1", "::2"],
  ])("is one for %s and %s", (one, other) => {
    expect(addressOf(one)).toBe(addressOf(other));
  });

  it("is each one's own of IPv4, and of nobody where the connection is gone", () => {
    expect(addressOf("192.0.2.1")).not.toBe(addressOf("192.0.2.2"));
    expect(addressOf("::ffff:192.0.2.1")).not.toBe(addressOf("::ffff:192.0.2.2"));
    expect(addressOf("")).toBe("");
  });
});
