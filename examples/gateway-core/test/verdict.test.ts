import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandContext } from "../src/cli/context.js";
import { tellVerdict } from "../src/cli/verdict.js";
import type { SandboxView } from "../src/http/view.js";

const judged = (status: string, observedGeneration: number, message = "as it should be") => ({
  type: "ConfigurationReady",
  status,
  reason: "ConfigurationAccepted",
  message,
  observedGeneration,
});

const view = (generation: number, more: object = {}): SandboxView =>
  ({
    id: "sb-1",
    name: "box",
    phase: "Ready",
    appliedGeneration: 1,
    configuration: { generation },
    conditions: [judged("True", 1)],
    deadline: null,
    ...more,
  }) as unknown as SandboxView;

let said: string;
beforeEach(() => {
  said = "";
  vi.spyOn(console, "error").mockImplementation((text: string) => {
    said += text;
  });
});
afterEach(() => vi.restoreAllMocks());

/** Updates to generation 2 and is shown these views; the stream then ends, or stays open. */
async function told(views: readonly SandboxView[], then: "ends" | "stays" = "stays"): Promise<number> {
  let isLeft = false;
  const client = {
    async *watch(_id: string, signal: AbortSignal) {
      try {
        yield* views;
        if (then === "stays") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      } finally {
        isLeft = true;
      }
    },
  };
  const context = { client, json: false } as unknown as CommandContext;
  const exitCode = await tellVerdict(context, view(2), 60_000);
  expect(isLeft).toBe(true);
  return exitCode;
}

describe("the verdict of a supervisor", () => {
  it("is waited for, whatever it says of other generations", async () => {
    const rejected = view(2, { conditions: [judged("False", 2, "no such rule")] });
    expect(await told([view(2), view(2, { conditions: [judged("Unknown", 2)] }), rejected])).toBe(1);
    expect(said).toBe("box: generation 2 was rejected: no such rule; generation 1 stays in force");
  });

  it("is told also where a newer generation was committed meanwhile", async () => {
    expect(await told([view(3, { conditions: [judged("True", 2)] })])).toBe(0);
    expect(said).toBe("box: generation 2 was accepted");
  });

  it("never comes for a generation that was replaced before it was judged, and that is said", async () => {
    expect(await told([view(3, { conditions: [judged("False", 3, "no such rule")] })])).toBe(0);
    expect(said).toBe("box: generation 2 was replaced by generation 3 before it was judged");
  });

  it("is not waited for any more where nobody is left who could give it", async () => {
    for (const phase of ["Stopping", "Stopped", "Error", "Completed", "Deleting"]) {
      said = "";
      expect(await told([view(2), view(2, { phase })])).toBe(0);
      expect(said).toContain("generation 2 is not judged yet");
    }
  });

  it("never comes once the sandbox is gone, and that is said", async () => {
    expect(await told([view(2)], "ends")).toBe(0);
    expect(said).toBe("box: generation 2 was not judged: the sandbox is gone");
  });
});
