import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually, HeldDoor } from "../src/testing/index.js";
import { tempDir } from "./temp-dir.js";

const SIZE = 5_000_000;

let server: ReturnType<typeof createServer>;
let door: HeldDoor;
let client: Socket;
let got = 0;

/** Behind the door each request, which is one byte, is answered with a lot. */
beforeEach(async () => {
  const dir = await tempDir();
  server = createServer((socket) => {
    socket.on("data", () => socket.write(Buffer.alloc(SIZE)));
    socket.on("error", () => undefined);
  });
  server.listen(join(dir, "engine.sock"));
  await once(server, "listening");
  door = await HeldDoor.open(join(dir, "engine.sock"), join(dir, "door.sock"));
  client = connect(door.path);
  got = 0;
  client.on("data", (chunk) => void (got += chunk.length));
});

afterEach(() => {
  client.destroy();
  door.close();
  server.close();
});

const arrived = (bytes: number): Promise<boolean> =>
  eventually(`${bytes} bytes`, () => Promise.resolve(got >= bytes));

it("lets so much through and no more until it is told, also on a connection that was used before", async () => {
  client.write("x");
  await arrived(SIZE);
  door.hold(1_000_000);
  client.write("x");
  await arrived(SIZE + 1_000_000);
  // Another connection goes as far, so what this one gets no more of is not merely late.
  const other = connect(door.path);
  other.write("x");
  await once(other, "data");
  other.destroy();
  expect(got).toBeLessThan(2 * SIZE);
  const before = got;
  door.pass(1_000_000);
  await arrived(before + 1_000_000);
  expect(got).toBeLessThan(2 * SIZE);
  door.letGo();
  await arrived(2 * SIZE);
});

it("ends one side when the other does", async () => {
  const connected = once(server, "connection") as Promise<[Socket]>;
  client.write("x");
  const [accepted] = await connected;
  await arrived(1);
  const gone = new Promise((resolve) => accepted.on("close", resolve));
  client.destroy();
  await gone;
});
