import { once } from "node:events";
import type * as net from "node:net";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EnforcingProxy } from "../src/supervisor/enforcement/proxy.js";

/** A target that has said all, and reads nothing of what it is sent. */
class DeafTarget extends Duplex {
  constructor() {
    super({ allowHalfOpen: true, read: () => undefined, write: () => undefined });
    this.push(null);
    queueMicrotask(() => this.emit("connect"));
  }

  setTimeout(): this {
    return this;
  }
}

const { targets } = vi.hoisted(() => ({ targets: [] as Duplex[] }));
vi.mock("node:net", async (original) => ({
  ...(await original<typeof net>()),
  connect: () => {
    const target = new DeafTarget();
    targets.push(target);
    return target;
  },
}));

let proxy: EnforcingProxy;
let client: Socket;
beforeEach(async () => {
  targets.length = 0;
  proxy = new EnforcingProxy();
  proxy.goBy(["deaf.test:1"], 1);
  client = new Socket().connect(await proxy.listen(), "127.0.0.1");
  await once(client, "connect");
});
afterEach(() => {
  client.destroy();
  proxy.close();
});

/** The client has said all as well and is gone, while what it said is still being written to the target. */
async function leaveRest(): Promise<Duplex> {
  client.write("CONNECT deaf.test:1 HTTP/1.1\r\nhost: deaf.test:1\r\n\r\n");
  await once(client, "data");
  client.end("what is left to write");
  await once(client, "close");
  const [target] = targets;
  if (target === undefined) throw new Error("no tunnel was opened");
  for (let turn = 0; turn < 50 && target.writableLength === 0; turn += 1) await setImmediate();
  expect([target.writableLength > 0, target.destroyed]).toEqual([true, false]);
  return target;
}

describe("what is left to write to a target when the client of a tunnel is gone", () => {
  it("is ended by a policy that does not allow it any more, and by no other", async () => {
    const target = await leaveRest();
    proxy.goBy(["deaf.test:1", "other.test:1"], 2);
    expect(target.destroyed).toBe(false);
    proxy.goBy(["other.test:1"], 3);
    expect(target.destroyed).toBe(true);
  });

  it("ends with the proxy", async () => {
    const target = await leaveRest();
    proxy.close();
    expect(target.destroyed).toBe(true);
  });
});
