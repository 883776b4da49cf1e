import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readSettings, readTls } from "../src/settings.js";

const temp = new TempDirs();
afterAll(() => temp.remove());

it("a certificate that is none is told by the variable that names it", async () => {
  const file = join(await temp.make(), "tls.crt");
  await writeFile(file, "no certificate\n");
  const { tls } = readSettings({ SLIPWAY_TLS_CERT: file, SLIPWAY_TLS_KEY: file });
  expect(() => tls && readTls(tls)).toThrow(
    /^SLIPWAY_TLS_CERT must be a certificate chain in PEM \(no start line\), got /,
  );
  const missing = { certFile: `${file}.missing`, keyFile: file };
  expect(() => readTls(missing)).toThrow(/^SLIPWAY_TLS_CERT must be a file that can be read, got /);
});
