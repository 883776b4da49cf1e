import { forward, PermanentDriverError } from "@slipway-examples/gateway-core";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { SOCKET_NAME } from "./container-spec.js";

/** What the system takes as the path of a socket. */
const LONGEST_PATH = 107;

/** All that a sandbox may ask of the gateway. */
const SUPERVISOR_ROUTES = "/v1/supervisor/";

/**
 * A door to the gateway for sandboxes without a network: a socket in a directory that is mounted into them. It opens
 * to supervisors' routes and to nothing else, while the gateway's port would offer a sandbox the users' routes as well.
 */
export class GatewaySocket {
  readonly dir: string;
  readonly #note: string;
  readonly #server: Server;
  #target: string | null;
  /** What is written down. */
  #noted: string | null;
  #noting: Promise<void> = Promise.resolve();

  private constructor(dir: string, note: string) {
    this.dir = dir;
    this.#note = note;
    this.#noted = readNote(note);
    this.#target = this.#noted;
    this.#server = createServer((request, response) => this.#pass(request, response));
    // A header that is left out for their number could be the one that says how long the body is.
    this.#server.maxHeadersCount = 0;
    // A door that nobody knocks on is no reason for a process to stay.
    this.#server.unref();
  }

  /**
   * Opens it below the gateway's own folder, in place of one that is there already: of a gateway that is gone, or of
   * another one of the same folder. The directory is mounted, so that a new socket in it is found.
   */
  static async open(dataDir: string): Promise<GatewaySocket> {
    const dir = join(dataDir, "door");
    const path = join(dir, SOCKET_NAME);
    if (Buffer.byteLength(path) > LONGEST_PATH) {
      throw new Error(
        `the data folder's path is too long for a socket in it (${LONGEST_PATH} bytes): ${path}`,
      );
    }
    await mkdir(dir, { recursive: true });
    await chmod(dir, 0o755);
    // Node removes the path that it listens at when it closes: under its own name, that could be a later one's socket.
    const made = join(dir, randomBytes(SOCKET_NAME.length / 2).toString("hex"));
    const door = new GatewaySocket(dir, join(dataDir, "door.json"));
    door.#server.listen(made);
    await once(door.#server, "listening");
    try {
      // A container's root may be another user out here; what protects the routes is each attempt's token.
      await chmod(made, 0o666);
      await rename(made, path);
    } catch (error) {
      door.close();
      throw error;
    }
    return door;
  }

  /**
   * Where the gateway listens. Written down for the next process, whose sandboxes are there before its first launch.
   *
   * @throws PermanentDriverError where that is not plain HTTP: nobody behind this door would reach it.
   */
  async leadTo(url: string): Promise<void> {
    if (this.#noted === url && this.#target === url) return;
    if (!isPlainHttp(url)) {
      const message = `the socket for sandboxes passes plain HTTP on, and supervisors are told to call ${url}`;
      throw new PermanentDriverError("ContainerCreateFailed", message);
    }
    this.#target = url;
    // One after the other: launches come together, and one that could not write leaves it to the next.
    this.#noting = this.#noting.catch(() => undefined).then(() => this.#writeDown(url));
    await this.#noting;
  }

  async #writeDown(url: string): Promise<void> {
    if (this.#noted === url) return;
    await writeFile(`${this.#note}.new`, JSON.stringify({ url }));
    await rename(`${this.#note}.new`, this.#note);
    this.#noted = url;
  }

  /** Nobody listens any more. The socket's file stays, for the next one to replace. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    const refuse = (status: number): void => {
      response.writeHead(status).end();
    };
    // Dots would lead elsewhere once a server resolved them.
    if (!path.startsWith(SUPERVISOR_ROUTES) || /(^|\/)\.{1,2}(\/|$|\?)|%2e|\\/i.test(path)) {
      refuse(404);
      return;
    }
    if (this.#target === null) {
      refuse(503);
      return;
    }
    const { host: name, hostname: host, port } = new URL(this.#target);
    forward(request, response, { name, host, port: port === "" ? 80 : Number(port), path }, refuse);
  }
}

function isPlainHttp(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === "http:";
}

/** What another process wrote down, perhaps of another version, or half. */
function readNote(path: string): string | null {
  try {
    const { url } = JSON.parse(readFileSync(path, "utf8")) as { url?: unknown };
    return typeof url === "string" && isPlainHttp(url) ? url : null;
  } catch {
    return null;
  }
}
