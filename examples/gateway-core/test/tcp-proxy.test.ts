import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { TcpProxy } from "../src/testing/tcp-proxy.js";

it("keeps the order of what it carries when it becomes faster in between", async () => {
  const server = createServer((socket) => {
    // The proxy resets what it carries when it closes.
    socket.on("error", () => undefined);
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await TcpProxy.start([(server.address() as AddressInfo).port]);
  const client = connect({ port: proxy.port, host: "127.0.0.1", noDelay: true });
  try {
    await once(client, "connect");
    let received = "";
    client.setEncoding("utf8").on("data", (text: string) => {
      received += text;
    });
    const said = async (text: string): Promise<void> => {
      while (received.length < text.length) await once(client, "data");
      expect(received).toBe(text);
    };
    client.write("0");
    await said("0");
    proxy.delayMs = 100;
    client.write("1");
    // The first is on its way and held back before the second is sent.
    await new Promise((resolve) => setTimeout(resolve, 20));
    proxy.delayMs = 0;
    client.write("2");
    await said("012");
  } finally {
    client.destroy();
    await proxy.close();
    server.close();
  }
});
