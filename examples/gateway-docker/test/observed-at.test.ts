import type Docker from "dockerode";
import { VirtualClock } from "slipway/testing";
import { expect, it } from "vitest";
import { DockerDriver } from "../src/docker-driver.js";
import { LABEL } from "../src/marks.js";

const { signal } = new AbortController();
const sandbox = { id: "sb-1", name: "box" };

/** An engine that takes a minute for each answer, which shows what there was when it was asked. */
function slowEngine(clock: VirtualClock, containers: readonly object[]): Docker {
  const slowly = <T>(answer: T): Promise<T> => {
    clock.advance(60_000);
    return Promise.resolve(answer);
  };
  const gone = Object.assign(new Error("no such object"), { statusCode: 404 });
  const inspect = (): Promise<never> => slowly(null).then(() => Promise.reject(gone));
  const docker = {
    listContainers: () => slowly(containers),
    listVolumes: () => slowly({ Volumes: [] }),
    getContainer: () => ({ inspect }),
    getVolume: () => ({ inspect }),
  };
  return docker as unknown as Docker;
}

it.each(["observe", "list"] as const)("what %s shows is as old as its first question", async (call) => {
  const clock = new VirtualClock();
  const labels = { [LABEL.gateway]: "g", [LABEL.sandbox]: sandbox.id, [LABEL.start]: "1.1" };
  const listed = call === "list" ? [{ Id: "c", State: "exited", Labels: labels, Created: 1 }] : [];
  const driver = new DockerDriver({ docker: slowEngine(clock, listed), gateway: "g", clock });
  const begun = clock.now();
  const seen =
    call === "observe"
      ? await driver.observe(sandbox, {}, null, { signal })
      : (await driver.list(null, { signal })).items[0]?.observation;
  expect(clock.now()).toBeGreaterThan(begun);
  expect(seen?.observedAt).toBe(begun);
});
