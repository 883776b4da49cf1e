import {
  SqliteActivationLedger,
  SqliteStore,
  type DriverContext,
  type DriverPort,
  type Storage,
} from "@slipway-examples/gateway-core";
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
import { ResourceLedger } from "./store/resource-ledger.js";
import { ResourceStore } from "./store/resource-store.js";

/** What a gateway on Kubernetes is made of, for `serveGateway` and `runGatewayCli`. */
export interface GatewayParts {
  drivers(context: DriverContext): readonly DriverPort[];
  storage(context: DriverContext): Storage;
}

/**
 * A driver and storage on one cluster.
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
    storage: ({ clock, dataDir }) => {
      const objects = new SandboxObjects({ client: connect(clock), clock, settings: sandboxes, version });
      const publisher = new PhasePublisher(objects, clock);
      if (settings.store === "cluster") {
        const store = new ResourceStore({ client: connect(clock), clock, namespace, gateway });
        return { store: new PublishedStore(store, publisher), ledger: new ResourceLedger(store) };
      }
      const path = join(dataDir, "gateway.db");
      return {
        store: new PublishedStore(new SqliteStore(path), publisher),
        ledger: new SqliteActivationLedger(path),
      };
    },
  };
}
