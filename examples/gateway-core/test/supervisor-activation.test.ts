import type { ActivationEntry } from "slipway/retry";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { groupMembers } from "../src/driver/process-identity.js";
import { UNTOLD_FAILURE } from "../src/record/exit-codes.js";
import { eventually } from "../src/testing/eventually.js";
import type { ScriptedGateway } from "./scripted-gateway.js";
import type { SupervisedOptions } from "./supervised.js";
import { SupervisedWorkspace } from "./supervised-workspace.js";

let workspace: SupervisedWorkspace;
let gateway: ScriptedGateway;

beforeEach(async () => {
  workspace = await SupervisedWorkspace.open();
  ({ gateway } = workspace);
});

afterEach(() => workspace.close());

const start = (options?: Partial<SupervisedOptions>) => workspace.start(options);
const read = (name: string) => workspace.read(name);

describe("the ledger decides", () => {
  // A run that is active was started by a supervisor that is gone: nobody saw its end, and it was no success.
  it.each([
    ["stopped", 0],
    ["completed", 0],
    ["active", 1],
  ] as const)(
    "an instance that is %s is reported, not replayed, and ends with %i",
    async (state, exitCode) => {
      await gateway.open();
      gateway.entry = { state, version: 3, claim: "somebody", at: 1 };
      const supervised = start();
      expect(await supervised.exitCode()).toBe(exitCode);
      expect(supervised.text).toMatch(new RegExp(`The instance is ${state}.*nothing is replayed`));
      expect(gateway.kinds("bootstrap").at(-1)).toMatchObject({ reason: "BootstrapCancelled" });
      expect(await read("runs")).toBe("");
    },
  );

  // What it could not tell is in its own log alone: its exit code says so.
  it.each([
    ["stopped", 0],
    ["active", UNTOLD_FAILURE],
    ["activating", UNTOLD_FAILURE],
  ] as const)(
    "an instance that is %s, and no gateway that hears of it, ends with %i",
    async (state, exitCode) => {
      await gateway.open();
      gateway.entry = { state, version: 3, claim: "somebody", at: 1 };
      gateway.script = ({ path }) => (path.endsWith("/report") ? "drop" : undefined);
      const supervised = start();
      expect(await supervised.exitCode()).toBe(exitCode);
      expect(supervised.text).toMatch(/The gateway could not be told/);
      expect(await read("runs")).toBe("");
    },
  );

  // With that reason a supervisor says that its run was started before it came, which ends the run for good.
  it("a supervisor that is told to end before it started anything says nothing of its run", async () => {
    await gateway.open();
    let claims = 0;
    gateway.script = ({ body }) => {
      const isClaim = (body as { next?: { state?: string } } | null)?.next?.state === "activating";
      if (!isClaim) return undefined;
      claims += 1;
      return { status: 503 };
    };
    const supervised = start();
    await eventually("a claim that is tried again", () => Promise.resolve(claims > 1));
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(143);
    expect(supervised.text).toMatch(/Bootstrap was cancelled/);
    expect(gateway.kinds("accepted")).toHaveLength(1);
    expect(JSON.stringify(gateway.reports)).not.toContain("BootstrapCancelled");
    expect(await read("runs")).toBe("");
  });

  // A gateway found only after it had written the claim that the attempt was over.
  it.each(["taken back", "left as it was, and its answer lost"])(
    "a claim of an attempt that is over starts nothing: it is %s",
    async (how) => {
      await gateway.open();
      const over = { status: 410, body: { error: { code: "expired", message: "the attempt expired" } } };
      let claims = 0;
      gateway.script = ({ method, path, body }) => {
        if (!path.endsWith("/activation")) return undefined;
        const next = (body as { next?: ActivationEntry | null } | null)?.next;
        if (next?.state !== "activating") return method === "GET" && claims > 0 ? over : undefined;
        claims += 1;
        const isBack = how === "taken back";
        gateway.entry = isBack ? { ...next, state: "stopped", version: next.version + 1 } : next;
        return isBack ? over : "drop";
      };
      const supervised = start();
      expect(await supervised.exitCode()).toBe(1);
      expect(supervised.text).toContain("Dismissed: the attempt expired");
      expect(claims).toBe(1);
      expect(await read("runs")).toBe("");
      expect(gateway.reports.map(({ kind }) => kind)).not.toContain("ready");
    },
  );

  it("a crash while it was being started is reported as uncertain, and not repeated", async () => {
    await gateway.open();
    const crashed = start();
    gateway.script = ({ body }) => {
      const isStarted = (body as { next?: { state?: string } } | null)?.next?.state === "active";
      return isStarted ? "hang" : undefined;
    };
    await eventually("the workload", async () => (await read("runs")) === "x");
    crashed.signal("SIGKILL");
    await crashed.end();
    expect(gateway.entry).toMatchObject({ state: "activating" });
    gateway.script = () => undefined;
    const next = start();
    expect(await next.exitCode()).toBe(1);
    expect(gateway.kinds("bootstrap-failed")).toMatchObject([{ reason: "LocalActivationUncertain" }]);
    expect(await read("runs")).toBe("x");
  });

  it("a stop that comes while it is being started wins, and the workload is ended", async () => {
    await gateway.open();
    gateway.script = ({ body }) => {
      const isStarted = (body as { next?: { state?: string } } | null)?.next?.state === "active";
      if (isStarted && gateway.entry !== null)
        gateway.entry = { ...gateway.entry, state: "stopped", version: gateway.entry.version + 1 };
      return undefined;
    };
    const supervised = start();
    expect(await supervised.exitCode()).toBe(143);
    expect(await groupMembers(supervised.pid)).toEqual([]);
    expect(gateway.kinds("ready")).toEqual([]);
  });
});
