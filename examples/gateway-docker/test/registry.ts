import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pack } from "tar-stream";

const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG = "application/vnd.docker.container.image.v1+json";
const LAYER = "application/vnd.docker.image.rootfs.diff.tar";

interface Blob {
  readonly data: Buffer;
  readonly digest: string;
}

/**
 * A registry over real HTTP that serves what an engine asks for during a pull: the version check, manifests and blobs.
 * What it fakes: there are no uploads, no authentication, no ranges and no cross-repository mounts, and a blob can be
 * held back in its middle until the test lets it go on.
 */
export class TestRegistry {
  /** Every request, as `GET /v2/…`. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #blobs = new Map<string, Blob>();
  readonly #manifests = new Map<string, Buffer>();
  readonly #waiting: (() => void)[] = [];
  #holding = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<TestRegistry> {
    const server = createServer((request, response) => {
      registry.requests.push(`${request.method} ${request.url}`);
      registry.#answer(request.url ?? "", response);
    });
    const registry = new TestRegistry(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return registry;
  }

  /** Its address as the first part of a reference: an engine takes a loopback registry without TLS. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds an image of random layers of these sizes; its reference. */
  async add(name: string, layerBytes: readonly number[]): Promise<string> {
    const layers = await Promise.all(layerBytes.map((bytes, index) => layerOf(`${name}-${index}`, bytes)));
    const config = Buffer.from(
      JSON.stringify({
        architecture: "amd64",
        os: "linux",
        config: { Env: ["PATH=/bin"] },
        rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
        history: layers.map(() => ({ created_by: "a test" })),
      }),
    );
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { mediaType: CONFIG, ...this.#keep(config) },
      layers: layers.map((layer) => ({ mediaType: LAYER, ...this.#keep(layer) })),
    };
    this.#manifests.set(name, Buffer.from(JSON.stringify(manifest)));
    return `${this.host}/${name}:1`;
  }

  /** From now on each blob stops in its middle, until the function returned is called. */
  hold(): () => void {
    this.#holding = true;
    return () => {
      this.#holding = false;
      for (const go of this.#waiting.splice(0)) go();
    };
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #keep(data: Buffer): { digest: string; size: number } {
    const digest = `sha256:${sha256(data)}`;
    this.#blobs.set(digest, { data, digest });
    return { digest, size: data.length };
  }

  #answer(url: string, response: ServerResponse): void {
    const [, name = "", kind = "", what = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(url) ?? [];
    response.setHeader("Docker-Distribution-Api-Version", "registry/2.0");
    if (url === "/v2/") return void response.end("{}");
    const manifest = this.#manifests.get(name);
    const found = kind === "manifests" ? manifest : this.#blobs.get(what)?.data;
    if (manifest === undefined || found === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      const code = kind === "manifests" ? "MANIFEST_UNKNOWN" : "BLOB_UNKNOWN";
      return void response.end(JSON.stringify({ errors: [{ code, message: "unknown" }] }));
    }
    const type = kind === "manifests" ? MANIFEST : "application/octet-stream";
    response.writeHead(200, {
      "content-type": type,
      "content-length": found.length,
      "docker-content-digest": `sha256:${sha256(found)}`,
    });
    if (kind === "manifests" || !this.#holding || found.length < 10_000) return void response.end(found);
    const half = Math.floor(found.length / 2);
    response.write(found.subarray(0, half));
    this.#waiting.push(() => response.end(found.subarray(half)));
  }
}

function sha256(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

async function layerOf(name: string, bytes: number): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name: `layers/${name}` }, randomBytes(bytes));
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
