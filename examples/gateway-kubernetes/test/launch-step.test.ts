import type { LaunchRequest } from "@slipway-examples/gateway-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OvertakenError } from "../src/api/api-error.js";
import { memberOf, textAt, type Plain } from "../src/api/plain.js";
import { nextLaunchStep, type LaunchStep } from "../src/driver/launch-step.js";
import { parseKubernetesOptions } from "../src/driver/options.js";
import { BOOTSTRAP_KEY } from "../src/resource/names.js";
import { intentOf, SANDBOX_VERSIONS, wantsRun, type SandboxVersion } from "../src/resource/sandbox-api.js";
import { newSandbox, startPatch } from "../src/resource/sandbox-manifest.js";
import { SETTINGS } from "./kit.js";

const OPTIONS = parseKubernetesOptions({});

function request(run: number): LaunchRequest {
  return {
    sandbox: { id: "id", name: "box" },
    instance: { id: `i-${run}`, attemptNumber: 1, run },
    image: { name: "node:20" },
    command: ["true"],
    options: {},
    access: { url: "https://gateway", token: "t0ken-of-the-run" },
  };
}

type Mutable = Record<string, unknown>;

/** JSON merge patch, as the API server applies it. */
function merged(target: unknown, patch: Plain): Mutable {
  const result: Mutable = { ...(target as Mutable | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else if (typeof value === "object" && !Array.isArray(value))
      result[key] = merged(result[key], value as Plain);
    else result[key] = value;
  }
  return result;
}

/** The resource with its pods and a controller that acts when it is told to: a model, with no protocol in it. */
class Model {
  sandbox: Plain | null = null;
  pods: Plain[] = [];
  revision = 0;
  /** Runs whose pods' main containers began, in order. */
  readonly begun: string[] = [];

  readonly version: SandboxVersion;

  constructor(version: SandboxVersion) {
    this.version = version;
  }

  write(next: Plain): void {
    this.revision += 1;
    this.sandbox = merged(next, { metadata: { uid: "u", resourceVersion: String(this.revision) } });
  }

  /** One pass of the controller: a pod per resource that is to run, none for one that is not. */
  control(): void {
    if (this.sandbox === null) return;
    if (!wantsRun(this.version, this.sandbox)) {
      this.pods = this.pods.map((pod) =>
        merged(pod, { metadata: { deletionTimestamp: "2027-01-15T08:00:00Z" } }),
      );
      return;
    }
    if (this.pods.length > 0) return;
    const annotations = memberOf(this.sandbox, "spec", "podTemplate", "metadata", "annotations") as Plain;
    const owner = { uid: "u", controller: true, kind: "Sandbox", name: "box" };
    this.pods = [
      {
        metadata: { name: "box", uid: `p-${this.revision}`, annotations, ownerReferences: [owner] },
        spec: { nodeName: "n" },
        status: { phase: "Pending" },
      },
    ];
  }

  /** One pass of the kubelet. */
  run(): void {
    this.pods = this.pods
      .filter((pod) => textAt(pod, "metadata", "deletionTimestamp") === null)
      .map((pod) => {
        if (textAt(pod, "status", "phase") === "Running") return pod;
        this.begun.push(textAt(pod, "metadata", "annotations", "slipway.dev/instance-id") ?? "?");
        const main = {
          name: "sandbox",
          ready: true,
          state: { running: { startedAt: "2027-01-15T08:00:00Z" } },
        };
        return merged(pod, { status: { phase: "Running", containerStatuses: [main] } });
      });
  }
}

/** One launcher: looks, and writes what it decided only if nobody wrote since. */
class Launcher {
  begun = false;
  outcome: LaunchStep["do"] | null = null;
  error: Error | null = null;
  #decided: { readonly step: LaunchStep; readonly revision: number } | null = null;

  readonly model: Model;
  readonly request: LaunchRequest;

  constructor(model: Model, wanted: LaunchRequest) {
    this.model = model;
    this.request = wanted;
  }

  look(): void {
    if (this.outcome !== null) return;
    const { version, sandbox, pods, revision } = this.model;
    this.#decided = {
      step: nextLaunchStep({ version, sandbox, pods, begun: this.begun }, this.request),
      revision,
    };
  }

  write(): void {
    const decided = this.#decided;
    if (decided === null || this.outcome !== null) return;
    this.#decided = null;
    const { step, revision } = decided;
    if (step.do === "wait") return;
    if (step.do === "refuse") {
      this.outcome = "refuse";
      this.error = step.error;
      return;
    }
    if (step.do === "nothing") {
      this.outcome = "nothing";
      return;
    }
    if (revision !== this.model.revision) return;
    const { model, request: wanted } = this;
    const sandbox = model.sandbox ?? {};
    const { version } = model;
    if (step.do === "create") model.write(newSandbox(version, wanted, OPTIONS, SETTINGS));
    else if (step.do === "begin")
      model.write(merged(sandbox, startPatch(version, wanted, OPTIONS, SETTINGS)));
    else if (step.do === "suspend") model.write(merged(sandbox, { spec: intentOf(version, false) }));
    else if (step.do === "run") model.write(merged(sandbox, { spec: intentOf(version, true) }));
    else {
      const mark = step.do === "mark" ? wanted.instance.id : null;
      model.write(merged(sandbox, { metadata: { annotations: { [BOOTSTRAP_KEY]: mark } } }));
    }
    if (step.do === "finish") this.outcome = "finish";
    if (step.do === "create" || step.do === "begin" || step.do === "mark" || step.do === "run")
      this.begun = true;
  }
}

const ACTIONS = ["look-a", "write-a", "look-b", "write-b", "control", "run", "suspend", "stop"] as const;

describe.each(SANDBOX_VERSIONS)("a start of a %s resource, step by step", (version) => {
  it("begins the wanted run once, and never beside another run, whoever comes in between", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...ACTIONS), { maxLength: 80 }),
        fc.boolean(),
        (actions, sameRun) => {
          const model = new Model(version);
          const [a, b] = [new Launcher(model, request(1)), new Launcher(model, request(sameRun ? 1 : 2))];
          const act = (action: (typeof ACTIONS)[number]): void => {
            if (action === "look-a") a.look();
            else if (action === "write-a") a.write();
            else if (action === "look-b") b.look();
            else if (action === "write-b") b.write();
            else if (action === "control") model.control();
            else if (action === "run") model.run();
            else if (model.sandbox !== null) {
              const off = { spec: intentOf(version, false) };
              const marked = { ...off, metadata: { annotations: { [BOOTSTRAP_KEY]: null } } };
              model.write(merged(model.sandbox, action === "stop" ? marked : off));
            }
            const live = model.pods.filter((pod) => textAt(pod, "metadata", "deletionTimestamp") === null);
            expect(live.length).toBeLessThanOrEqual(1);
          };
          for (const action of actions) act(action);
          // Left alone, both come to an end: the newer start runs, or was stopped, and the older one is refused.
          for (let turn = 0; turn < 30; turn += 1) for (const action of ACTIONS.slice(0, 6)) act(action);
          expect([a.outcome, b.outcome]).not.toContain(null);
          for (const { error } of [a, b]) if (error !== null) expect(error).toBeInstanceOf(OvertakenError);
          if (b.outcome !== "refuse" && model.sandbox !== null && wantsRun(version, model.sandbox)) {
            expect(model.begun.at(-1)).toBe(b.request.instance.id);
            expect(textAt(model.sandbox, "metadata", "annotations", BOOTSTRAP_KEY)).toBeNull();
          }
          if (!sameRun) {
            const from = model.begun.indexOf("i-2");
            if (from >= 0) expect(model.begun.slice(from)).not.toContain("i-1");
          }
        },
      ),
      { numRuns: 500, seed: 7 },
    );
  });

  it("takes a resource that another owner has for neither its own nor free", () => {
    const foreign = { metadata: { name: "box", uid: "x", labels: { "slipway.dev/sandbox-id": "other" } } };
    const step = nextLaunchStep({ version, sandbox: foreign, pods: [], begun: false }, request(1));
    expect(step).toMatchObject({ do: "refuse", error: { reason: "OwnershipConflict" } });
  });

  it("ends with the pod's own reason where waiting cannot help, and waits where it can", () => {
    const model = new Model(version);
    const a = new Launcher(model, request(1));
    for (let turn = 0; turn < 4; turn += 1) {
      a.look();
      a.write();
      model.control();
    }
    const waiting = (reason: string): LaunchStep => {
      const main = { name: "sandbox", state: { waiting: { reason } } };
      const pods = [merged(model.pods[0], { status: { phase: "Pending", containerStatuses: [main] } })];
      return nextLaunchStep({ version, sandbox: model.sandbox, pods, begun: true }, a.request);
    };
    expect(waiting("ImagePullBackOff").do).toBe("wait");
    expect(waiting("SomeReasonOfTheFuture").do).toBe("wait");
    expect(waiting("InvalidImageName")).toMatchObject({ do: "refuse", error: { reason: "ImageInvalid" } });
  });

  it("never writes the token anywhere but in the Secret", () => {
    const made = newSandbox(version, request(1), OPTIONS, SETTINGS);
    expect(JSON.stringify(made)).not.toContain("t0ken");
    expect(JSON.stringify(made)).toContain('"secretKeyRef"');
  });
});
