import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { supervisorBundle } from "@slipway-examples/gateway-core";
import { parseKubernetesOptions } from "../src/driver/options.js";
import { newSandbox } from "../src/resource/sandbox-manifest.js";
import { BOOTSTRAP_KEY, INSTANCE_KEY, START_KEY } from "../src/resource/names.js";
import { readSettings } from "../src/settings.js";
import type { PolicyRule } from "./apiserver/index.js";
import { launchRequest, REF, startDriver } from "./driver-kit.js";
import { Replica, SPEC, tempDirs } from "./gateway-kit.js";
import { deployedGrants, manifests, startCluster } from "./kit.js";

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value?: string }[];
          readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly scheme: string } };
          readonly livenessProbe: { readonly httpGet: { readonly path: string } };
          readonly startupProbe: { readonly httpGet: { readonly path: string } };
        }[];
      };
    };
  };
}

function rights(rules: readonly PolicyRule[]): string[] {
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
      ),
    )
    .sort();
}

describe("the manifests", () => {
  it("are taken by an API server as they are", async () => {
    await using cluster = await startCluster();
    const sample = manifests("sample-sandbox.yaml")[0] as object;
    cluster.server.apply(sample);
    const path = "/apis/agents.x-k8s.io/v1beta1/namespaces/slipway/sandboxes/demo";
    const { signal } = new AbortController();
    expect(await cluster.client().get(path, { signal })).toMatchObject({
      spec: { operatingMode: "Running" },
    });
  });

  it("show phase, reason and message in the tables of both resources", () => {
    for (const file of ["sandboxes.crd.yaml", "sandboxrecords.crd.yaml"]) {
      const [definition] = manifests(file) as unknown as {
        spec: { versions: { additionalPrinterColumns: { name: string; priority?: number }[] }[] };
      }[];
      for (const { additionalPrinterColumns } of definition!.spec.versions) {
        const shown = additionalPrinterColumns
          .filter(({ priority = 0 }) => priority === 0)
          .map(({ name }) => name);
        expect(shown.slice(0, 3)).toEqual(["Phase", "Reason", "Message"]);
      }
    }
  });

  it("give the gateway an environment that it takes, and probes that it answers", async () => {
    const deployment = manifests("gateway.yaml").find(
      ({ kind }) => kind === "Deployment",
    ) as unknown as Deployment;
    const { containers, serviceAccountName } = deployment.spec.template.spec;
    const [container] = containers;
    const env = Object.fromEntries(container!.env.map(({ name, value }) => [name, value ?? "slipway"]));
    const settings = readSettings(env);
    expect(settings).toMatchObject({
      store: "cluster",
      sandboxes: { gateway: "slipway", caConfigMap: "slipway-gateway-ca" },
    });
    expect(container!.args).toContain("--stall-ms=none");
    expect(serviceAccountName).toBe(
      manifests("rbac.yaml").find(({ kind }) => kind === "ServiceAccount")?.metadata.name,
    );
    await using it = await startDriver("0.5.6");
    const replica = await it.during(
      Replica.start({ clock: it.clock, transport: it.transport(), store: "sqlite", seed: 1 }),
    );
    const { readinessProbe, livenessProbe, startupProbe } = container!;
    const paths = [readinessProbe, livenessProbe, startupProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(["/readyz", "/healthz", "/healthz"]);
    const answers = (): Promise<number[]> =>
      Promise.all(paths.map(async (path) => (await fetch(`${replica.running.url}${path}`)).status));
    await it.driven.run(5000);
    expect(await answers()).toEqual([200, 200, 200]);
    // A cluster that is away takes the replica out of the Service, and gets it not killed.
    await it.server.close();
    await it.driven.run(120_000);
    expect(await answers()).toEqual([503, 200, 200]);
    expect(container!.readinessProbe.httpGet.scheme).toBe("HTTPS");
    await it.during(replica.kill());
    await tempDirs.remove();
  });

  it("show in the sample what the driver writes", () => {
    const sample = manifests("sample-sandbox.yaml")[0] as unknown as {
      spec: object;
      metadata: { annotations: object };
    };
    const made = newSandbox(
      "v1beta1",
      launchRequest(1, {
        sandbox: { id: "sb-sample", name: "demo" },
        instance: { id: "00000000-0000-4000-8000-000000000001", attemptNumber: 1, run: 1 },
        image: { name: "docker.io/library/node:20-slim" },
        command: ["node", "-e", "setInterval(() => {}, 1e9)"],
        access: { url: "https://slipway-gateway.slipway.svc:7300", token: "t" },
      }),
      parseKubernetesOptions({}),
      {
        namespace: "slipway",
        gateway: "slipway",
        supervisorConfigMap: "slipway-supervisor",
        caConfigMap: "slipway-gateway-ca",
        graceSeconds: 10,
      },
    ) as unknown as typeof sample;
    const { [BOOTSTRAP_KEY]: mark, ...annotations } = made.metadata.annotations as Record<string, string>;
    expect(mark).toBe(annotations[INSTANCE_KEY]);
    expect(annotations[START_KEY]).toBe("1.1");
    expect(sample).toEqual({
      ...made,
      metadata: { ...made.metadata, annotations },
      spec: { ...made.spec, operatingMode: "Running" },
    });
  });

  it("fit the supervisor into a ConfigMap", () => {
    expect(readFileSync(supervisorBundle).byteLength).toBeLessThan(1024 * 1024);
  });

  it("are all in the guide or in the kustomization", () => {
    const [kustomization] = manifests("kustomization.yaml") as unknown as { resources: string[] }[];
    expect(kustomization?.resources).toEqual([
      "sandboxrecords.crd.yaml",
      "supervisorsessions.crd.yaml",
      "rbac.yaml",
      "gateway.yaml",
    ]);
  });
});

describe("the rights", () => {
  // The second role is for records in the cluster, and says so.
  it.each([
    ["a file", "sqlite", deployedGrants().slice(0, 1)],
    ["the cluster", "cluster", deployedGrants()],
  ] as const)(
    "are those that a gateway with records in %s uses, no more and no less, and never on claims",
    async (_where, store, grants) => {
      await using it = await startDriver("0.5.6");
      const replica = await it.during(
        Replica.start({
          clock: it.clock,
          transport: it.driven.watched(it.transport()),
          store,
          seed: 3,
        }),
      );
      const { core } = replica;
      const { record } = await it.during(core.create({ name: REF.name, spec: SPEC, policy: { version: 1 } }));
      await it.driven.run(20_000, () => it.pods().length > 0);
      // A supervisor calls, and is heard of by other gateways.
      for (let calls = 0; calls < 2; calls += 1) {
        const { record: now } = (await it.during(core.records.read(record.id)))!;
        expect(await it.during(core.authenticate(now.id, now.deadline?.attempt ?? "", now.run))).toBeTypeOf(
          "object",
        );
        await it.driven.run(10_000);
      }
      // The same start again after a lost answer: the Secret is there, and is written over.
      await it.during(core.stopSandbox(record.id));
      await it.driven.run(20_000);
      await it.during(
        it.driver.launch(launchRequest(2), { signal: it.signal, report: () => undefined }).catch(() => null),
      );
      await it.during(core.startSandbox(record.id).catch(() => null));
      await it.driven.run(20_000);
      await it.during(core.deleteSandbox(record.id));
      await it.driven.run(30_000);
      await it.during(it.launch(1));
      it.server.faults.inject({
        fault: { kind: "cut", when: "after" },
        times: 1,
        when: ({ verb, plural }) => verb === "create" && plural === "secrets",
      });
      await it.during(it.launch(2));
      await it.during(it.driver.remove(REF, { signal: it.signal }));
      await it.during(replica.running.close());

      const used = new Set<string>();
      const denied: string[] = [];
      for (const { user, verb, plural, group, code } of it.server.ledger.recent) {
        if (user !== "system:serviceaccount:slipway:slipway-gateway" || plural === "") continue;
        used.add(`${verb} ${plural}.${group}`);
        if (code === 403) denied.push(`${verb} ${plural}`);
      }
      expect(denied).toEqual([]);
      expect([...used].sort()).toEqual(rights(grants.flatMap(({ rules }) => rules)));
      expect([...used].filter((right) => right.includes("persistentvolumeclaims"))).toEqual([]);
    },
  );
});
