import { readFileSync } from "node:fs";
import { systemClock, type Clock } from "slipway";
import { seededRandom } from "slipway/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { ApiServer } from "../apiserver/index.js";
import { without } from "../apiserver/object.js";
import sandboxCrd from "../cluster/sandbox-crd.json" with { type: "json" };
import { convertSandbox } from "../cluster/sandbox-conversion.js";
import { Https, type Body, type Endpoint } from "./https.js";

const { env } = process;

/** Is the target the project's own server? Else tests that steer the server skip. */
export const IS_OWN = env["SLIPWAY_APISERVER_URL"] === undefined;

/** Does it serve more than custom resources? Else tests of pods, namespaces and their like skip. */
export const HAS_CORE = env["SLIPWAY_APISERVER_ONLY"] !== "custom-resources";

/** For the titles of what skips. */
export const NEEDS_OWN = IS_OWN ? "" : " (skipped: needs the project's own server, to steer it)";
export const NEEDS_CORE = HAS_CORE ? "" : " (skipped: the server under test has custom resources only)";

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A namespace of one test, with nothing in it. */
export interface Room {
  readonly namespace: string;
  /** The paths of its sandboxes, as v1beta1 and as v1alpha1. */
  readonly sandboxes: string;
  readonly alpha: string;
  /** Creates a sandbox that must come out, and gives it as the server answered. */
  make(name: string, more?: SandboxParts): Promise<Body>;
}

/**
 * The server under test. `SLIPWAY_APISERVER_URL` names one that runs already (scripts/real-apiserver.sh prints the
 * variables), else the project's own is started for the test file.
 */
export class Target implements AsyncDisposable {
  readonly api: Https;
  readonly endpoint: Endpoint;
  readonly #own: ApiServer | null;

  private constructor(endpoint: Endpoint, own: ApiServer | null) {
    this.endpoint = endpoint;
    this.api = new Https(endpoint);
    this.#own = own;
  }

  static async open(clock: Clock = systemClock): Promise<Target> {
    const url = env["SLIPWAY_APISERVER_URL"];
    if (url !== undefined) return new Target(external(url), null);
    const own = await ApiServer.start({
      clock,
      random: seededRandom(7),
      objects: [sandboxCrd],
      converters: { [sandboxCrd.metadata.name]: convertSandbox },
    });
    return new Target({ url: own.url, ca: own.ca, ...own.clientCertificate("admin", "system:masters") }, own);
  }

  /** The project's own server. */
  get own(): ApiServer {
    if (this.#own === null) throw new Error("this test needs the project's own server");
    return this.#own;
  }

  async room(): Promise<Room> {
    const namespace = freshName("room");
    if (HAS_CORE) {
      const reply = await this.api.post("/api/v1/namespaces", { metadata: { name: namespace } });
      expect(reply.code).toBe(201);
    }
    const path = (version: string): string =>
      `/apis/agents.x-k8s.io/${version}/namespaces/${namespace}/sandboxes`;
    const sandboxes = path("v1beta1");
    const make = async (name: string, more?: SandboxParts): Promise<Body> => {
      const reply = await this.api.post(sandboxes, sandbox(name, more));
      expect(reply.code, JSON.stringify(reply.body)).toBe(201);
      return reply.body;
    };
    return { namespace, sandboxes, alpha: path("v1alpha1"), make };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.api[Symbol.dispose]();
    await this.#own?.[Symbol.asyncDispose]();
  }
}

function external(url: string): Endpoint {
  const file = (name: string): string | undefined => {
    const path = env[name];
    return path === undefined ? undefined : readFileSync(path, "utf8");
  };
  const [cert, key] = [file("SLIPWAY_APISERVER_CERT"), file("SLIPWAY_APISERVER_KEY")];
  const token = env["SLIPWAY_APISERVER_TOKEN"];
  return {
    url,
    ca: file("SLIPWAY_APISERVER_CA") ?? "",
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(token === undefined ? {} : { token }),
  };
}

/** One target for all tests of a file. */
export function useTarget(clock?: Clock): { readonly current: Target } {
  let target: Target | undefined;
  beforeAll(async () => {
    target = await Target.open(clock);
  });
  afterAll(() => target?.[Symbol.asyncDispose]());
  return {
    get current() {
      if (target === undefined) throw new Error("the target is not open yet");
      return target;
    },
  };
}

let count = 0;

/** A name that no other test has, nor an earlier run against the same server. */
export function freshName(what: string): string {
  count += 1;
  return `${what}-${process.pid}-${Date.now().toString(36)}-${count}`;
}

export interface SandboxParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

export function sandbox(name: string, more: SandboxParts = {}): object {
  return {
    apiVersion: "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name, ...more.metadata },
    spec: { podTemplate: { spec: { containers: [{ name: "main", image: "busybox" }] } }, ...more.spec },
    ...(more.status === undefined ? {} : { status: more.status }),
  };
}

/** An object without what differs between servers and does not matter here. */
export function plain(object: Body): object {
  return { ...object, metadata: without(object.metadata, "managedFields") };
}
