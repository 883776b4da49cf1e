import { show } from "../errors.js";
import {
  expectedRun,
  observeCloudHypervisor,
  observeDockerInspect,
  observeDockerListEntry,
  observeFirecracker,
  observeLibvirt,
  observeOpenShellStatus,
  observePod,
  observePodmanInspect,
  observePodmanListEntry,
  observeProcess,
  observeQemu,
  observeSandboxResource,
  type Observation,
  type ObserveOptions,
  type SandboxRecord,
} from "../phase/index.js";
import { UsageError } from "./command.js";

const SANDBOX_EXPECTS =
  "agent-sandbox resources: an object of kind Sandbox, a list of Sandboxes and Pods, or { sandbox, pods }";

type JsonObject = Readonly<Record<string, unknown>>;

/** One object of the input, observed. */
export interface ExplainedObject {
  readonly name: string | null;
  readonly observation: Observation;
}

interface Context {
  readonly record: SandboxRecord;
  readonly now: number;
}

/** One kind of input: what it expects, in words, and how it reads it. */
export interface ExplainKind {
  readonly expects: string;
  read(value: unknown, context: Context): readonly ExplainedObject[];
  /** What an empty list means of the one sandbox that a record is of; absent: nothing. */
  readonly none?: ((context: Context) => ExplainedObject) | undefined;
}

type Observe = (object: JsonObject, options: ObserveOptions) => Observation;

/** A kind whose input is one object or a list of them. */
function each(expects: string, isOne: (object: JsonObject) => boolean, observe: Observe): ExplainKind {
  return {
    expects,
    read: (value, context) =>
      listed(value).map((entry) => {
        const object = asObject(entry);
        if (object === null || !isOne(object))
          throw new UsageError(`expected ${expects}, found ${describe(entry)}`);
        return { name: nameOf(object), observation: observe(object, optionsOf(context)) };
      }),
  };
}

function container(engine: string, inspect: Observe, list: Observe): ExplainKind {
  const kind = each(
    `what ${engine} inspect or a ${engine} container list prints: objects with State`,
    (object) => asObject(object["State"]) !== null || typeof object["State"] === "string",
    (object, options) =>
      asObject(object["State"]) === null ? list(object, options) : inspect(object, options),
  );
  return { ...kind, none: (context) => ({ name: null, observation: noContainer(engine, context) }) };
}

/** The list that an inspect prints of a container that is not there, and also where its engine did not answer. */
function noContainer(engine: string, context: Context): Observation {
  const absent = observeDockerInspect({ inspect: null, error: { statusCode: 404 } }, optionsOf(context));
  return {
    ...absent,
    message: `no container in the list, so there is none if ${engine} gave no other error`,
  };
}

/** A kind whose observer takes several parts: either all of them by name, or the bare main part. */
function parts(expects: string, main: string, bare: string, observe: Observe): ExplainKind {
  return each(
    expects,
    (object) => main in object || bare in object,
    (object, options) => observe(main in object ? object : { [main]: object }, options),
  );
}

/** Every kind by its name on the command line. */
export const kinds: ReadonlyMap<string, ExplainKind> = new Map([
  [
    "docker",
    container(
      "docker",
      (inspect, options) => observeDockerInspect({ inspect }, options),
      (summary, options) => observeDockerListEntry({ summary }, options),
    ),
  ],
  [
    "podman",
    container(
      "podman",
      (inspect, options) => observePodmanInspect({ inspect }, options),
      (summary, options) => observePodmanListEntry({ summary }, options),
    ),
  ],
  [
    "pod",
    each(
      "Kubernetes pods: an object of kind Pod, or a list of them",
      (object) => object["kind"] === "Pod" || ("status" in object && "spec" in object),
      (pod, options) => observePod({ pod }, options),
    ),
  ],
  ["sandbox", { expects: SANDBOX_EXPECTS, read: readSandboxes }],
  [
    "qemu",
    parts("a reply to query-status, or { qmp, process, events }", "qmp", "return", (object, options) =>
      observeQemu({ qmp: object["qmp"], process: object["process"], events: object["events"] }, options),
    ),
  ],
  [
    "libvirt",
    parts("a domain { state, reason }, or { domain }", "domain", "state", (object, options) =>
      observeLibvirt({ domain: object["domain"] }, options),
    ),
  ],
  [
    "firecracker",
    parts(
      "Firecracker's instance info, or { instanceInfo, process }",
      "instanceInfo",
      "state",
      (object, options) =>
        observeFirecracker({ instanceInfo: object["instanceInfo"], process: object["process"] }, options),
    ),
  ],
  [
    "cloud-hypervisor",
    parts("cloud-hypervisor's vm.info, or { vmInfo, process }", "vmInfo", "state", (object, options) =>
      observeCloudHypervisor({ vmInfo: object["vmInfo"], process: object["process"] }, options),
    ),
  ],
  [
    "process",
    parts(
      "a process { pid, alive, exitCode, signal }, or { process, stateDir }",
      "process",
      "alive",
      (object, options) =>
        observeProcess({ process: object["process"], stateDir: object["stateDir"] }, options),
    ),
  ],
  [
    "openshell",
    parts(
      "a driver status { conditions, deleting }, or { status }",
      "status",
      "conditions",
      (object, options) => observeOpenShellStatus({ ...object, status: object["status"] }, options),
    ),
  ],
]);

/**
 * A Sandbox alone has pods that nobody asked for; a list that holds both kinds (as `kubectl get sandbox,pod` prints)
 * has been asked for them.
 */
function readSandboxes(value: unknown, context: Context): readonly ExplainedObject[] {
  const both = asObject(value);
  if (both !== null && "sandbox" in both) {
    const sandbox = both["sandbox"];
    const observation = observeSandboxResource(
      { sandbox, pods: both["pods"] ?? null, error: both["error"] },
      optionsOf(context),
    );
    return [{ name: nameOf(asObject(sandbox) ?? {}), observation }];
  }
  const entries = listed(value).map((entry) => asObject(entry));
  const pods = entries.filter((entry) => entry?.["kind"] === "Pod");
  const sandboxes = entries.filter((entry) => entry !== null && entry["kind"] !== "Pod");
  if (sandboxes.length === 0 && pods.length > 0)
    throw new UsageError(`expected ${SANDBOX_EXPECTS}, found ${pods.length} of kind Pod and no Sandbox`);
  return sandboxes.map((sandbox) => {
    if (sandbox?.["kind"] !== "Sandbox")
      throw new UsageError(`expected ${SANDBOX_EXPECTS}, found ${describe(sandbox)}`);
    const asked = pods.length > 0 ? { items: pods } : null;
    return {
      name: nameOf(sandbox),
      observation: observeSandboxResource({ sandbox, pods: asked }, optionsOf(context)),
    };
  });
}

function optionsOf({ record, now }: Context): ObserveOptions {
  return { run: expectedRun(record), observedAt: now };
}

function listed(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  const items = asObject(value)?.["items"];
  return Array.isArray(items) ? (items as readonly unknown[]) : [value];
}

function nameOf(object: JsonObject): string | null {
  const names = object["Names"];
  const first: unknown = Array.isArray(names) ? names[0] : names;
  const candidates = [
    object["Name"],
    asObject(object["metadata"])?.["name"],
    object["name"],
    object["id"],
    first,
    object["Id"],
  ];
  const name = candidates.find((candidate) => typeof candidate === "string" && candidate !== "");
  return typeof name === "string" ? name.replace(/^\//, "") : null;
}

function describe(value: unknown): string {
  const object = asObject(value);
  if (object === null) return show(value);
  const kind = object["kind"];
  return typeof kind === "string"
    ? `an object of kind ${kind}`
    : `an object with ${Object.keys(object).slice(0, 8).join(", ") || "no keys"}`;
}

function asObject(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}
