import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import { serveGateway } from "../src/serve.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const run = promisify(execFile);
const LIMIT_MS = 60_000;

interface Outcome {
  readonly code: number;
  readonly stderr: string;
}

async function call(...args: readonly string[]): Promise<Outcome> {
  try {
    return { code: 0, stderr: (await run(process.execPath, [cli, ...args])).stderr };
  } catch (error) {
    const { code, stderr } = error as Outcome;
    return { code, stderr };
  }
}

describe("a mistake on the command line", () => {
  it.each([
    [
      ["create", "box", "--imag", "x", "--", "true"],
      "error: unknown option '--imag'\n(Did you mean --image?)\n",
    ],
    [["create", "box", "--", "true"], "error: required option '--image <image>' not specified\n"],
    [["update", "box", "--polcy", "{}"], "error: unknown option '--polcy'\n(Did you mean --policy?)\n"],
    [["update", "box"], "error: required option '--policy <json>' not specified\n"],
    [["serve", "--dat", "x"], "error: unknown option '--dat'\n(Did you mean --data?)\n"],
    [["serve"], "error: required option '--data <dir>' not specified\n"],
  ])(
    "is told by what it is: %j",
    async (args, stderr) => {
      expect(await call(...args)).toEqual({ code: 2, stderr });
    },
    LIMIT_MS,
  );

  it.each([
    [["--database-url", "x"], "--database-url (SLIPWAY_DATABASE_URL) must be a URL that begins with "],
    [["--supervisor-url", "x"], "--supervisor-url must be a URL, "],
    [["--restart-on", "no reason"], '--restart-on must be a reason in Pascal case, got "no reason"'],
    [["--token", " "], "--token (SLIPWAY_GATEWAY_TOKEN) must be printable ASCII characters, "],
    [["--tls-cert", "none.pem"], "--tls-key must be given with --tls-cert, got nothing"],
    [["--tls-key", "none.pem"], "--tls-cert must be given with --tls-key, got nothing"],
    [
      ["--tls-cert", "none.pem", "--tls-key", "none.pem"],
      '--tls-cert must be a file that can be read, got "none.pem"',
    ],
    [
      ["--tls-cert", "package.json", "--tls-key", "package.json"],
      '--tls-cert must be a certificate chain in PEM (no start line), got "package.json"',
    ],
  ])(
    "is told by the name of the option: serve %j",
    async (args, message) => {
      const { code, stderr } = await call("serve", "--data", join(await tempDir(), "data"), ...args);
      expect({ code, stderr: stderr.slice(0, `error: ${message}`.length) }).toEqual({
        code: 2,
        stderr: `error: ${message}`,
      });
    },
    LIMIT_MS,
  );

  it(
    "is told where a file is in the place of the data, or above it",
    async () => {
      const file = join(await tempDir(), "file");
      await writeFile(file, "");
      for (const data of [file, join(file, "below")])
        expect(await call("serve", "--data", data)).toEqual({
          code: 2,
          stderr: `error: --data must be a directory, or where one can be made (a file is there), got ${JSON.stringify(data)}\n`,
        });
    },
    LIMIT_MS,
  );

  it(
    "is told with what there is to do about it: a gateway that wants a token",
    async () => {
      const gateway = await serveGateway({
        drivers: [new FakeDriver()],
        dataDir: join(await tempDir(), "data"),
        port: 0,
        budgets: DEFAULT_BUDGETS,
        ownerToken: "the-owner",
        log: () => undefined,
      });
      const stderr =
        "error: a valid owner token is required: give it with --token or in SLIPWAY_GATEWAY_TOKEN\n";
      try {
        expect(await call("--url", gateway.url, "list")).toEqual({ code: 1, stderr });
        expect(await call("--url", gateway.url, "--token", "another", "list")).toEqual({ code: 1, stderr });
        expect(await call("--url", gateway.url, "--token", "the-owner", "list")).toEqual({
          code: 0,
          stderr: "",
        });
      } finally {
        await gateway.close();
      }
    },
    LIMIT_MS,
  );
});
