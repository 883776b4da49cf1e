import type { LaunchRequest } from "@slipway-examples/gateway-core";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import type { DockerOptions } from "./docker-options.js";
import { containerName, runLabels, workspaceName } from "./marks.js";

/** Where things are inside a container. The image brings the first two. */
export const INSIDE = {
  node: "/usr/local/bin/node",
  start: "/opt/slipway/start.mjs",
  workspace: "/workspace",
  /** The token is in this directory until the supervisor has read it. */
  secrets: "/run/slipway",
  gateway: "/run/slipway-gateway",
} as const;

export const SOCKET_NAME = "gateway.sock";

export interface Surroundings {
  /** The mark of this gateway. */
  readonly gateway: string;
  /** The engine's network for containers. */
  readonly network: string;
  /** A directory of this machine with the gateway's socket in it; then no network is needed to reach it. */
  readonly socketDir: string | null;
  /** Run the engine's own init as the first process, which buries orphans. */
  readonly init: boolean;
  /** How long a workload that was asked to end may take. */
  readonly stopGraceMs: number;
}

const DEFAULT_PIDS = 512;
const NANOSECONDS = 1_000_000;

/** The container of one run, as the engine takes it. No secret is in it: anybody may inspect a container. */
export function containerSpec(
  request: LaunchRequest,
  imageId: string,
  options: DockerOptions,
  surroundings: Surroundings,
): Docker.ContainerCreateOptions {
  const { access, instance, sandbox } = request;
  const { memoryBytes, cpus, pids = DEFAULT_PIDS } = options;
  const { gateway, init, network, socketDir, stopGraceMs } = surroundings;
  const env = {
    SLIPWAY_GATEWAY_URL: access.url,
    ...(socketDir !== null && { SLIPWAY_GATEWAY_SOCKET: `${INSIDE.gateway}/${SOCKET_NAME}` }),
    SLIPWAY_TOKEN_FILE: `${INSIDE.secrets}/token`,
    SLIPWAY_STOP_GRACE_MS: String(stopGraceMs),
    SLIPWAY_SANDBOX: sandbox.id,
    SLIPWAY_RUN: String(instance.run),
    SLIPWAY_OWNS_MEMORY: "1",
    // An engine signals the first process of a container, and nobody else. A stop of its own is the signal below.
    SLIPWAY_ASKED_ALONE: "1",
    ...(access.budgetMs !== undefined && { SLIPWAY_BUDGET_MS: String(access.budgetMs) }),
    SLIPWAY_COMMAND: JSON.stringify(request.command.map(insideImage)),
  };
  const mounts: Docker.MountSettings[] = [
    { Type: "volume", Source: workspaceName(sandbox), Target: INSIDE.workspace },
  ];
  if (socketDir !== null)
    mounts.push({ Type: "bind", Source: socketDir, Target: INSIDE.gateway, ReadOnly: true });
  return {
    name: containerName(sandbox, instance),
    Image: imageId,
    Entrypoint: [INSIDE.node, INSIDE.start],
    Cmd: [],
    User: "0:0",
    // The supervisor's own end is SIGTERM; this one asks it to see to the workload's first.
    StopSignal: "SIGINT",
    WorkingDir: INSIDE.workspace,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: runLabels(gateway, sandbox, instance),
    ...healthcheck(options.healthcheck),
    HostConfig: {
      NetworkMode: network,
      Mounts: mounts,
      // Every run is a container of its own, and only the gateway begins one.
      RestartPolicy: { Name: "no" },
      Init: init,
      PidsLimit: pids,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
      ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    },
  };
}

/** Commands may say where the image is; inside a container that is the root. */
function insideImage(word: string): string {
  return word === "{image}" ? "/" : word.replaceAll("{image}/", "/").replaceAll("{image}", "");
}

function healthcheck(
  check: DockerOptions["healthcheck"],
): Pick<Docker.ContainerCreateOptions, "Healthcheck"> {
  if (check === undefined) return {};
  const { command, intervalMs, timeoutMs, startPeriodMs, retries } = check;
  const nanoseconds = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : ms * NANOSECONDS;
  const given = {
    Interval: nanoseconds(intervalMs),
    Timeout: nanoseconds(timeoutMs),
    StartPeriod: nanoseconds(startPeriodMs),
    Retries: retries,
  };
  return { Healthcheck: { Test: ["CMD", ...command], ...given } };
}

/**
 * The token as an archive for the container, readable by the supervisor alone. In the environment or a label it would
 * be in every `docker inspect`; the supervisor removes the file as soon as it has read it.
 */
export async function tokenArchive(token: string): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name: INSIDE.secrets.slice(1), type: "directory", mode: 0o700, uid: 0, gid: 0 });
  tar.entry({ name: `${INSIDE.secrets.slice(1)}/token`, mode: 0o600, uid: 0, gid: 0 }, token);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
