import { eventually } from "@slipway-examples/gateway-core/testing";
import { cp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Lab, Launch, requestOf, whyNoLab, type Sent } from "./lab.js";

const LIMIT_MS = 180_000;
const context = { signal: new AbortController().signal };

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `the image cache under real machines${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let lab: Lab;
    let dataDir: string;
    let a: string;
    let b: string;

    beforeAll(async () => {
      lab = await Lab.open({ docker: false });
      a = await lab.imageTar("a.tar");
      b = join(lab.dir, "b.tar");
      await cp(a, b);
    }, LIMIT_MS);

    beforeEach(async () => {
      dataDir = await lab.dataDir();
    });

    afterEach(async () => {
      const driver = lab.driver(dataDir);
      for (const { id } of (await driver.list(null)).items) await driver.remove({ id, name: id }, context);
      await eventually("no process left", async () => (await lab.processes()).length === 0);
    });

    afterAll(async () => lab.close());

    /** A start with room for no image at all that is not in use. */
    const launch = (path: string, sent: Partial<Sent> = {}): Launch => {
      const request = requestOf({ image: { name: "box", path }, url: "http://127.0.0.1:9", ...sent });
      return new Launch(lab.driver(dataDir, { imageCacheMb: 0 }), request);
    };

    const images = async (): Promise<readonly string[]> =>
      (await readdir(join(dataDir, "images"))).filter((name) => name.endsWith(".sqfs")).sort();

    it("keeps what a machine runs from, however little room there is, and nothing that none does", {
      timeout: LIMIT_MS,
    }, async () => {
      const first = launch(a);
      await first.result;
      const [ofA = ""] = await images();
      const second = launch(b);
      const { pid } = (await second.result) as { pid: number };
      expect(await images()).toHaveLength(2);

      // Once nothing runs from it, the next start takes it away, and reuses its own.
      await lab.driver(dataDir).remove(first.request.sandbox, context);
      const third = launch(b);
      await third.result;
      expect(third.step("image")).toMatchObject([{ label: "Image reused", done: true }]);
      const left = await images();
      expect(left).toHaveLength(1);
      expect(left).not.toContain(ofA);

      // A machine that has ended needs its image no more, though what it was is still known.
      process.kill(pid, "SIGKILL");
      await lab.driver(dataDir).remove(third.request.sandbox, context);
      const { instance, sandbox } = second.request;
      await eventually("its end", async () => {
        const seen = await lab.driver(dataDir).observe(sandbox, { instanceId: instance.id });
        return seen?.failureReason === "Killed";
      });
      expect((await stat(join(dataDir, "images", left[0] ?? ""))).nlink).toBe(1);
      const fourth = launch(a);
      await fourth.result;
      expect(await images()).toEqual([ofA]);
    });

    it("gives a lock to the next one when its holder has died", { timeout: LIMIT_MS }, async () => {
      await launch(a).result;
      const [name = ""] = await images();
      const lock = join(dataDir, "images", `${name}.lock`);
      await rm(join(dataDir, "images", name));
      const dead = { token: "t", pid: 1, startMarker: "another boot", sandbox: "ghost", file: "/nowhere" };
      await writeFile(lock, JSON.stringify(dead));
      const second = launch(a);
      await second.result;
      expect(second.step("image-wait-1")).toEqual([]);
      expect(await readdir(join(dataDir, "images"))).not.toContain(`${name}.lock`);
    });
  },
);
