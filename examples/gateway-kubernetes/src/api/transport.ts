import type { KubeConfig } from "@kubernetes/client-node";
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent, request as httpsRequest, type RequestOptions as TlsOptions } from "node:https";

export interface TransportRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Ends the request and, after the answer began, its body. */
  readonly signal: AbortSignal;
}

export interface TransportReply {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array | string>;
}

/** Carries one request. Rejects when no answer came; any status is an answer. */
export type Transport = (request: TransportRequest) => Promise<TransportReply>;

/**
 * A connection on which nothing comes is asked by the system whether its other end is still there: one that a balancer
 * forgot, or whose node is gone, breaks within a minute, where a watch would wait minutes for a bookmark.
 */
const PROBE_AFTER_MS = 20_000;

/** What decides whether two requests may share a connection. */
type Identity = Pick<
  TlsOptions,
  "ca" | "cert" | "key" | "pfx" | "passphrase" | "rejectUnauthorized" | "servername"
>;

/**
 * Requests by the cluster, credentials and trust of a kubeconfig, which the client library reads and keeps fresh
 * (token files, exec plugins, OIDC). The library makes an agent for every request; here connections are kept and
 * shared, and the answer comes as a stream with its headers, which `Retry-After` needs.
 */
export function kubeConfigTransport(config: KubeConfig): Transport {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error("The kubeconfig has no current cluster");
  const server = new URL(cluster.server);
  const agents = new SharedAgent();
  return async ({ method, path, headers, body, signal }) => {
    const options: TlsOptions = {};
    await config.applyToHTTPSOptions(options);
    const { auth, headers: credentials, agent: ownAgent, ...identity } = options;
    const agent = cluster.proxyUrl === undefined ? agents.agentFor(server.protocol, identity) : ownAgent;
    const target: RequestOptions = {
      method,
      host: server.hostname.replace(/^\[|\]$/g, ""),
      port: server.port === "" ? undefined : server.port,
      path: `${server.pathname.replace(/\/$/, "")}${path}`,
      headers: { ...(credentials as Record<string, string> | undefined), ...headers },
      auth: auth ?? undefined,
      agent,
      signal,
    };
    const reply = await send(server.protocol === "http:" ? httpRequest : httpsRequest, target, body);
    return {
      status: reply.statusCode ?? 0,
      header: (name) => {
        const value = reply.headers[name];
        return typeof value === "string" ? value : value?.[0];
      },
      body: reply,
    };
  };
}

function send(
  request: typeof httpRequest,
  options: RequestOptions,
  body: string | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve);
    sent.on("error", reject);
    sent.on("socket", (socket) => socket.setKeepAlive(true, PROBE_AFTER_MS));
    sent.end(body);
  });
}

/** One agent for as long as the credentials are the same. */
class SharedAgent {
  #key = "";
  #agent: HttpAgent | undefined;

  agentFor(protocol: string, identity: Identity): HttpAgent {
    const key = JSON.stringify([
      protocol,
      ...Object.entries(identity).map(([name, value]) => [name, keyText(value)]),
    ]);
    if (this.#agent === undefined || key !== this.#key) {
      // The connections of the former credentials end when their requests do.
      this.#agent =
        protocol === "http:"
          ? new HttpAgent({ keepAlive: true })
          : new Agent({ ...identity, keepAlive: true });
      this.#key = key;
    }
    return this.#agent;
  }
}

/** Certificates and keys as text; anything else by its JSON. */
function keyText(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString("latin1") : JSON.stringify([value]);
}
