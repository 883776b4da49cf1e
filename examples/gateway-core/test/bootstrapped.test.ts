import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench, BUDGETS } from "./bench.js";
import { accepted, ready } from "./supervisor-reports.js";

let bench: Bench;
let gateway: Gateway;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

const read = () => bench.read(gateway, id);
const report = (report: SupervisorReport) => bench.report(gateway, id, report);

describe("the condition Bootstrapped", () => {
  const said = async (): Promise<string> => {
    const found = (await read()).conditions.find(({ type }) => type === "Bootstrapped");
    return `${found?.status} ${found?.reason}`;
  };
  const waiting = {
    kind: "bootstrap",
    succeeded: false,
    reason: "BootstrapInProgress",
    message: "policy: waits for attempt 2",
    cause: { reason: "ECONNREFUSED", message: "refused" },
  } as const;
  const launch = async (): Promise<void> => {
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
  };

  it("says what every attempt came to, and nothing of the one before", async () => {
    expect(await said()).toBe("False BootstrapPending");
    await launch();
    await report(waiting);
    expect(await said()).toBe("False BootstrapInProgress");
    await report(accepted);
    await report(ready);
    expect(await said()).toBe("True BootstrapSucceeded");
    await gateway.stopSandbox(id);
    await bench.settle();
    expect(await said()).toBe("True BootstrapSucceeded");
    await gateway.startSandbox(id);
    await bench.settle();
    expect(await said()).toBe("False BootstrapPending");
  });

  it("does not go on waiting after the attempt has expired, and keeps the cause", async () => {
    await launch();
    await report(waiting);
    await bench.pass(BUDGETS.admissionMs + 1000);
    const found = (await read()).conditions.find(({ type }) => type === "Bootstrapped");
    expect(found).toMatchObject({
      status: "False",
      reason: "BootstrapDeadlineExceeded",
      cause: waiting.cause,
    });
  });

  it("is cancelled with a stop, and says what the supervisor said of a failure", async () => {
    await gateway.stopSandbox(id);
    await bench.settle();
    expect(await said()).toBe("False BootstrapCancelled");
    await gateway.startSandbox(id);
    await bench.settle();
    await launch();
    await report({ kind: "bootstrap-failed", reason: "BootstrapFailed", message: "401" });
    expect(await said()).toBe("False BootstrapFailed");
  });

  it("is true of a workload that ended before it was ready", async () => {
    await launch();
    await report(accepted);
    await report({ kind: "exited", exitCode: 1, signal: null });
    expect(await said()).toBe("True BootstrapSucceeded");
  });
});
