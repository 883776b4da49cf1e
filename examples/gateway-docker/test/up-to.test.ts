import type Docker from "dockerode";
import { expect, it } from "vitest";
import { DockerDriver } from "../src/docker-driver.js";
import { LABEL } from "../src/marks.js";

const { signal } = new AbortController();
const sandbox = { id: "sb-1", name: "box" };

/** An engine with a running container for each of these starts, which says what it was asked to do. */
function engineWith(starts: readonly string[]): { docker: Docker; asked: string[] } {
  const asked: string[] = [];
  const docker = {
    listContainers: () =>
      Promise.resolve(
        starts.map((start) => ({ Id: start, State: "running", Labels: { [LABEL.start]: start } })),
      ),
    getContainer: (id: string) => ({
      stop: () => Promise.resolve(asked.push(`stop ${id}`)),
      remove: () => Promise.resolve(asked.push(`remove ${id}`)),
    }),
  };
  return { docker: docker as unknown as Docker, asked };
}

it.each([
  ["stop", "stop"],
  ["cleanUp", "remove"],
] as const)(
  "a %s that is meant for a start leaves the container of a newer one alone",
  async (call, word) => {
    const { docker, asked } = engineWith(["1.1", "1.2", "1.3", "2.1", "no mark"]);
    const driver = new DockerDriver({ docker, gateway: "g" });
    await driver[call](sandbox, { signal, upTo: { attemptNumber: 1, run: 2 } });
    expect(asked.sort()).toEqual([`${word} 1.1`, `${word} 1.2`, `${word} no mark`]);
    asked.length = 0;
    await driver[call](sandbox, { signal });
    expect(asked).toHaveLength(5);
  },
);
