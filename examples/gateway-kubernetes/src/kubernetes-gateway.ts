import type { DriverContext, DriverPort, RecordStore } from "@slipway-examples/gateway-core";
import { SqliteStore } from "@slipway-examples/gateway-core";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "slipway";
import { join } from "node:path";
import { KubeClient } from "./api/kube-client.js";
import { kubeConfigTransport } from "./api/transport.js";
import { KubernetesDriver } from "./driver/kubernetes-driver.js";
import { SandboxObjects } from "./driver/sandbox-objects.js";
import { PhasePublisher } from "./publish/phase-publisher.js";
import { PublishedStore } from "./publish/published-store.js";
import type { GatewaySettings } from "./settings.js";
import { ResourceStore } from "./store/resource-store.js";

/** What a gateway on Kubernetes is made of, for `serveGateway` and `runGatewayCli`. */
export interface GatewayParts {
  drivers(context: DriverContext): readonly DriverPort[];
  store(context: DriverContext): RecordStore;
}

/**
 * A driver and a record store on one cluster.
 *
 * @param config - Read when the first part is made, so that a client's command needs no cluster.
 */
export function kubernetesGateway(settings: GatewaySettings, config: () => KubeConfig): GatewayParts {
  let client: KubeClient | null = null;
  const connect = (clock: Clock): KubeClient => {
    client ??= new KubeClient({ transport: kubeConfigTransport(config()), clock });
    return client;
  };
  const { sandboxes, version } = settings;
  const { namespace, gateway } = sandboxes;
  return {
    drivers: ({ clock }) => [
      new KubernetesDriver({ client: connect(clock), clock, settings: sandboxes, version }),
    ],
    store: ({ clock, dataDir }) => {
      const store =
        settings.store === "cluster"
          ? new ResourceStore({ client: connect(clock), clock, namespace, gateway })
          : new SqliteStore(join(dataDir, "gateway.db"));
      const objects = new SandboxObjects({ client: connect(clock), clock, settings: sandboxes, version });
      return new PublishedStore(store, new PhasePublisher(objects, clock));
    },
  };
}
