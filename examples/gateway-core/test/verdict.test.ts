import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandContext } from "../src/cli/context.js";
import { ApiError } from "../src/client/gateway-client.js";
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
    startPending: false,
    operations: { start: { allowed: true } },
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

/** Updates to generation 2 and is shown these views; the stream then ends, stays open or breaks. */
async function told(
  views: readonly SandboxView[],
  then: "ends" | "stays" | ApiError = "stays",
): Promise<number> {
  let isLeft = false;
  const client = {
    async *watch(_id: string, signal: AbortSignal) {
      try {
        yield* views;
        if (then instanceof ApiError) throw then;
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

  const refused = (reason: string) => ({
    operations: { start: { allowed: false, reason, message: `start is refused: ${reason}` } },
  });
  it.each([
    ["Error", {}, '"recover box" brings the next one'],
    ["Stopped", {}, '"start box" brings the next one'],
    ["Completed", {}, '"start box" brings the next one'],
    ["Stopping", { startPending: true }, "the start that waits brings the next one"],
    ["Error", refused("CleanupPending"), '"recover box" brings the next one'],
    ["Error", refused("NotRecoverable"), "start is refused: NotRecoverable"],
    ["Deleting", refused("Deleting"), "start is refused: Deleting"],
  ])("is not waited for where nobody is left who could give it: %s %j", async (phase, more, next) => {
    expect(await told([view(2), view(2, { phase, ...more })])).toBe(0);
    const nobody = "no supervisor is left that could do that";
    expect(said).toBe(`box: generation 2 is not judged: ${nobody}; ${next}`);
  });

  it("is not waited for where nobody knows what runs, and where to look is said", async () => {
    expect(await told([view(2), view(2, { phase: "Unknown" })])).toBe(0);
    expect(said).toContain(
      "is not judged yet: its supervisor does that, see the condition ConfigurationReady",
    );
  });

  it("never comes once the sandbox is gone, and that is said", async () => {
    expect(await told([view(2)], "ends")).toBe(0);
    expect(said).toBe("box: generation 2 was not judged: the sandbox is gone");
    said = "";
    expect(await told([], new ApiError(404, "not-found", "no such sandbox"))).toBe(0);
    expect(said).toBe("box: generation 2 was not judged: the sandbox is gone");
  });

  it("is not told where the gateway cannot say", async () => {
    expect(await told([view(2)], new ApiError(503, "away", "the store is away"))).toBe(0);
    expect(said).toContain("generation 2 is not judged yet");
  });
});
