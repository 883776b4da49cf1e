#!/usr/bin/env node
import { KubeConfig } from "@kubernetes/client-node";
import { runGatewayCli } from "@slipway-examples/gateway-core";
import { kubernetesGateway } from "./kubernetes-gateway.js";
import { readSettings, readTls } from "./settings.js";

const settings = readSettings(process.env);

/** The kubeconfig of the user, or the service account of the pod. */
function config(): KubeConfig {
  const found = new KubeConfig();
  found.loadFromDefault();
  return found;
}

await runGatewayCli({
  name: "slipway-gateway-kubernetes",
  ...kubernetesGateway(settings, config),
  images: "reference",
  tls: () => (settings.tls === undefined ? undefined : readTls(settings.tls)),
});
