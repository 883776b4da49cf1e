import { readFileSync } from "node:fs";
import { systemClock } from "slipway";
import { seededRandom } from "slipway/testing";
import { ApiServer } from "../apiserver/index.js";
import sandboxCrd from "../cluster/sandbox-crd.json" with { type: "json" };
import { convertSandbox } from "../cluster/sandbox-conversion.js";
import { Https, type Endpoint } from "./https.js";

/**
 * The server under test. `SLIPWAY_APISERVER_URL` names one that runs already (scripts/real-apiserver.sh prints the
 * variables), else the project's own is started for the test file.
 */
export interface Target extends AsyncDisposable {
  readonly api: Https;
  readonly endpoint: Endpoint;
  /** The project's own server, to control it; null for another one. */
  readonly own: ApiServer | null;
}

const { env } = process;

/** Is the target the project's own server? Else tests that steer the server skip. */
export const IS_OWN = env["SLIPWAY_APISERVER_URL"] === undefined;

/** Does it serve more than custom resources? Else tests of pods, namespaces and their like skip. */
export const HAS_CORE = env["SLIPWAY_APISERVER_ONLY"] !== "custom-resources";

export const NAMESPACE = "default";

function file(name: string): string | undefined {
  const path = env[name];
  return path === undefined ? undefined : readFileSync(path, "utf8");
}

export async function openTarget(): Promise<Target> {
  const url = env["SLIPWAY_APISERVER_URL"];
  if (url !== undefined) {
    const [cert, key, token] = [
      file("SLIPWAY_APISERVER_CERT"),
      file("SLIPWAY_APISERVER_KEY"),
      env["SLIPWAY_APISERVER_TOKEN"],
    ];
    const endpoint: Endpoint = {
      url,
      ca: file("SLIPWAY_APISERVER_CA") ?? "",
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(token === undefined ? {} : { token }),
    };
    const api = new Https(endpoint);
    return {
      api,
      endpoint,
      own: null,
      [Symbol.asyncDispose]: () => {
        api[Symbol.dispose]();
        return Promise.resolve();
      },
    };
  }
  const own = await ApiServer.start({
    clock: systemClock,
    random: seededRandom(7),
    objects: [sandboxCrd],
    converters: { [sandboxCrd.metadata.name]: convertSandbox },
  });
  const endpoint = { url: own.url, ca: own.ca, ...own.clientCertificate("admin", "system:masters") };
  const api = new Https(endpoint);
  return {
    api,
    endpoint,
    own,
    [Symbol.asyncDispose]: async () => {
      api[Symbol.dispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

export const SANDBOXES = `/apis/agents.x-k8s.io/v1beta1/namespaces/${NAMESPACE}/sandboxes`;
export const ALPHA_SANDBOXES = `/apis/agents.x-k8s.io/v1alpha1/namespaces/${NAMESPACE}/sandboxes`;
export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

let count = 0;

/** A name that no other test of the run has. */
export function freshName(what: string): string {
  count += 1;
  return `${what}-${process.pid}-${Date.now().toString(36)}-${count}`;
}

export function sandbox(
  name: string,
  more: { readonly metadata?: object; readonly spec?: object } = {},
): object {
  return {
    apiVersion: "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name, ...more.metadata },
    spec: { podTemplate: { spec: { containers: [{ name: "main", image: "busybox" }] } }, ...more.spec },
  };
}
