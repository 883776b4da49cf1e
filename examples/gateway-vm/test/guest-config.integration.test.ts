import { eventually } from "@slipway-examples/gateway-core/testing";
import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Lab, Launch, requestOf, whyNoLab } from "./lab.js";
import { StubGateway } from "./stub-gateway.js";

/** Without KVM a guest needs seconds for what takes a real machine none; a busy machine makes it many. */
const LIMIT_MS = 180_000;
const context = { signal: new AbortController().signal };

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `what an image says of its program, in a real guest${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let lab: Lab;
    let gateway: StubGateway;

    beforeAll(async () => {
      lab = await Lab.open();
      gateway = await StubGateway.start();
      const tar = await lab.imageTar("box.tar");
      const env = `ENV WORDS="it's two  words" odd.name=x PATH=/srv/bin:/bin`;
      await lab.importImage(tar, "says:1", env, "WORKDIR /srv/app", "USER nobody");
      await lab.importImage(tar, "nobody:1", "USER somebody");
    }, LIMIT_MS);

    afterAll(async () => {
      gateway.close();
      await lab.close();
    });

    it("is its environment, folder and user, and the workspace is that user's", {
      timeout: LIMIT_MS,
    }, async () => {
      const checks = [
        '[ "$(id -u):$(id -g)" = 65534:65534 ]',
        '[ "$PWD" = /srv/app ]',
        `[ "$WORDS" = "it's two  words" ]`,
        // A shell has it for nobody else: it is no name of a variable to it.
        "tr '\\0' '\\n' </proc/$$/environ | grep -qx odd.name=x",
        '[ "$PATH" = /srv/bin:/bin ]',
        '[ "$HOME" = /tmp ]',
        "touch /workspace/mine",
        "! touch /srv/app/not-mine",
        // The supervisor is somebody else, and what it was told stays with it.
        "! cat /proc/$PPID/environ",
        "! env | grep -q SLIPWAY_TOKEN",
      ];
      const script = checks.map((check, index) => `${check} || exit ${11 + index}`).join("\n");
      const request = requestOf({ image: "says:1", url: gateway.url, command: ["sh", "-c", script] });
      const dataDir = await lab.dataDir();
      const driver = lab.driver(dataDir);
      await new Launch(driver, request).result;
      const exited = await eventually(
        "the end of the main process",
        () => {
          const calls = gateway.reported(request.sandbox.id, 1);
          return Promise.resolve(calls.find(({ kind }) => kind === "exited"));
        },
        LIMIT_MS,
      );
      expect(exited.body).toMatchObject({ exitCode: 0, signal: null });
      await driver.remove(request.sandbox, context);
    });

    it("is refused where it names a user whom the image does not have", { timeout: LIMIT_MS }, async () => {
      const dataDir = await lab.dataDir();
      const launch = new Launch(lab.driver(dataDir), requestOf({ image: "nobody:1", url: gateway.url }));
      await expect(launch.result).rejects.toMatchObject({
        name: "PermanentDriverError",
        reason: "MachineImageUnusable",
        message: "The image nobody:1 names the user somebody, whom it does not have",
      });
      await lab.driver(dataDir).remove(launch.request.sandbox, context);
      expect(await readdir(join(dataDir, "images"))).toEqual([]);
    });
  },
);
