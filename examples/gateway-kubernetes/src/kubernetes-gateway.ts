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
import { isTransient } from "./api/api-error.js";
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
  /** The API server is away or overloaded, as far as one request tells: the next one may succeed. */
  isStorageAway(error: unknown): boolean;
}

/** Answers of the API server tell the time anyway: asking for it costs a request only where there were none. */
const ASK_TIME_EVERY_MS = 10_000;

/**
 * A driver and storage on one cluster.
 *
 * @param config - Read when the first part is made, so that a client's command needs no cluster.
 */
export function kubernetesGateway(settings: GatewaySettings, config: () => KubeConfig): GatewayParts {
  return gatewayParts(
    settings,
    (clock) => new KubeClient({ transport: kubeConfigTransport(config()), clock }),
  );
}

/**
 * The same over any connection.
 *
 * @param connect - Called once, with the host's clock: requests and their waits go by it.
 */
export function gatewayParts(
  settings: GatewaySettings,
  connect: (clock: Clock) => KubeClient,
  random?: () => number,
): GatewayParts {
  let made: KubeClient | null = null;
  const clientOn = (clock: Clock): KubeClient => (made ??= connect(clock));
  const { sandboxes, version } = settings;
  const { namespace, gateway } = sandboxes;
  return {
    drivers: ({ clock }) => [
      new KubernetesDriver({ client: clientOn(clock), clock, settings: sandboxes, version, random }),
    ],
    isStorageAway: isTransient,
    storage: ({ clock, dataDir }) => {
      const client = clientOn(clock);
      const objects = new SandboxObjects({ client, clock, settings: sandboxes, version });
      const publisher = new PhasePublisher(objects, clock, random);
      if (settings.store === "cluster") {
        const store = new ResourceStore({ client, clock, namespace, gateway, random });
        return {
          store: new PublishedStore(store, publisher),
          ledger: new ResourceLedger(store),
          askTime: (signal) => client.clusterTime(signal),
          askTimeEveryMs: ASK_TIME_EVERY_MS,
          sessionStore: store.sessions,
          tellsOfWrites: true,
          follow: (listener) => store.follow(listener),
          ending: () => store.ending(),
        };
      }
      const path = join(dataDir, "gateway.db");
      return {
        store: new PublishedStore(new SqliteStore(path), publisher),
        ledger: new SqliteActivationLedger(path),
      };
    },
  };
}
