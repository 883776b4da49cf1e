/**
 * What has to hold of the installed package wherever JavaScript runs: no test framework, no Node built-in, real timers
 * of a few milliseconds where a host's own are the point. Resolves with the names of what did not hold.
 */
import * as slipway from "slipway";
import * as conditions from "slipway/conditions";
import * as deadline from "slipway/deadline";
import * as phase from "slipway/phase";
import * as progress from "slipway/progress";
import * as retry from "slipway/retry";
import * as schema from "slipway/schema";
import * as testing from "slipway/testing";

const plan = deadline.definePlan({
  phases: [
    { name: "preparation", budgetMs: 1000, timeoutReason: "ImagePreparationTimedOut" },
    { name: "admission", budgetMs: 500, renewOn: "change" },
  ],
  ceilingMs: 5000,
});

const checks = {
  "the root has what the rooms have": () => {
    for (const room of [conditions, deadline, phase, progress, retry]) {
      for (const name of Object.keys(room)) assert(slipway[name] === room[name], name);
    }
  },
  "a deadline expires at its instant, and before any late event": () => {
    const { state } = deadline.startAttempt(plan, { attempt: "a", now: 0 });
    const late = deadline.applyDeadlineEvent(
      state,
      { type: "enter", attempt: "a", phase: "admission" },
      1000,
    );
    equal(
      [late.outcome.why, late.state.status, late.state.expiry.reason],
      ["expired", "expired", "ImagePreparationTimedOut"],
    );
  },
  "a live deadline on a virtual clock aborts its signal with a typed error": async () => {
    const clock = new testing.VirtualClock();
    const live = deadline.PhasedDeadline.start(plan, { attempt: "a", clock });
    await clock.advanceAsync(1000);
    assert(live.signal.aborted && live.signal.reason instanceof deadline.DeadlineExpiredError, "aborted");
  },
  "a live deadline on the host's timers is never early": async () => {
    const short = deadline.definePlan({ phases: [{ name: "only", budgetMs: 25 }] });
    const started = slipway.systemClock.now();
    const live = deadline.PhasedDeadline.start(short, { attempt: "a" });
    await new Promise((resolve) => live.once("expired", resolve));
    assert(slipway.systemClock.now() - started >= 25, "early");
  },
  "a persisted deadline is decoded strictly": () => {
    const { state } = deadline.startAttempt(plan, { attempt: "a", now: 0 });
    equal(schema.decodeDeadlineState(JSON.parse(JSON.stringify(state))), state);
    throws(() => schema.decodeDeadlineState({ ...state, windowEndsAt: undefined }));
  },
  "a retrier waits out what is transient and stops at what is permanent": async () => {
    const clock = new testing.VirtualClock();
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    let attempts = 0;
    const result = retry.retryBootstrap(
      async () => {
        if ((attempts += 1) < 3) throw refused;
        return "policy";
      },
      { clock, random: testing.seededRandom(1) },
    );
    for (let step = 0; step < 10; step += 1) await clock.advanceAsync(60_000);
    equal([await result, attempts], ["policy", 3]);
    const expired = Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" });
    const failed = await retry
      .retryBootstrap(() => Promise.reject(expired), { clock })
      .catch((error) => error);
    assert(failed instanceof retry.BootstrapPermanentError && failed.cause === expired, "permanent");
  },
  "a cancelled retrier rejects with the caller's own reason": async () => {
    const controller = new AbortController();
    const reason = { mine: true };
    const waiting = retry.retryBootstrap(
      () => Promise.reject(Object.assign(new Error(), { code: "ECONNREFUSED" })),
      {
        signal: controller.signal,
      },
    );
    setTimeout(() => controller.abort(reason), 5);
    assert((await waiting.catch((error) => error)) === reason, "identity");
  },
  "an empty backend under a stuck record is startable": () => {
    const record = { phase: "Provisioning", desired: "running", since: 0 };
    const sandbox = { kind: "Sandbox", metadata: { uid: "u" }, spec: { replicas: 0 } };
    const observation = phase.observeSandboxResource({ sandbox, pods: { items: [] } });
    const { record: after } = phase.reconcileRecord(record, observation, null, 10);
    equal([after.phase, after.reason], ["Stopped", "BackendEmpty"]);
    assert(phase.allowedOperations({ record: after, by: "user", now: 10 }).start.allowed, "start");
  },
  "a step counts its own subject's bytes only": () => {
    const tracker = new progress.StepTracker([
      { step: "image", label: "Image exported", subject: "local-big:1" },
    ]);
    assert(!tracker.finish("image", "bootstrap:1").applied, "another subject");
    tracker.report("image", "local-big:1", 4_900_000_000);
    tracker.finish("image", "local-big:1");
    assert(
      /^✓ Image exported \(local-big:1, 4\.9 GB\)/.test(progress.formatStep(tracker.read("image"))),
      "line",
    );
  },
  "an older reader gets the reason that it knows, and the finding beside it": () => {
    const written = conditions.setCondition(
      [],
      {
        type: "Ready",
        status: "False",
        reason: "IsolationBackendMismatch",
        message: "",
        generalReasons: ["ImagePreparationTimedOut"],
      },
      0,
    );
    const [shown] = conditions.convertConditions(written, {
      catalog: conditions.sandboxReasons,
      contract: 1,
    });
    equal([shown.reason, shown.cause.reason], ["ImagePreparationTimedOut", "IsolationBackendMismatch"]);
  },
};

function assert(holds, what) {
  if (!holds) throw new Error(what);
}

function equal(actual, expected) {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`expected ${wanted}, found ${found}`);
}

function throws(work) {
  try {
    work();
  } catch {
    return;
  }
  throw new Error("expected it to throw");
}

/** Runs every check; what failed, with the reason. */
export async function smoke() {
  const failed = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      failed.push(`${name}: ${String(error)}`);
    }
  }
  return { checks: Object.keys(checks).length, failed };
}
