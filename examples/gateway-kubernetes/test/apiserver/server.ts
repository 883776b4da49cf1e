import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { authorize, type Grant, type Identity } from "./access.js";
import { fail, send } from "./answers.js";
import { Authority, type KeyPair } from "./certificates.js";
import { discovery } from "./discovery.js";
import { factsOf, Faults, type RequestFacts } from "./faults.js";
import { GarbageCollector } from "./garbage-collector.js";
import { answer, openWatch, resourceOf } from "./handlers.js";
import { Identities } from "./identities.js";
import { Ledger } from "./ledger.js";
import { NamespaceController } from "./namespace-controller.js";
import { Registry } from "./registry.js";
import { authorizedName, parseRequest, readBody, type ParsedRequest } from "./request.js";
import type { ApiServerOptions } from "./server-options.js";
import { NoSuchPath } from "./status.js";
import { Store } from "./store.js";
import type { Watch } from "./watch.js";

const SHORTEST_WATCH_MS = 1_800_000;

/** A Kubernetes API server for tests, on HTTPS at a free loopback port. README.md tells what it does not do. */
export class ApiServer implements AsyncDisposable {
  readonly authority = new Authority();
  readonly registry: Registry;
  readonly ledger = new Ledger();
  readonly faults: Faults;
  /** How far the cluster's clock is ahead of `clock`; negative for behind. */
  clockSkewMs = 0;
  /** Compact right after every write: whoever reconnects to a watch after one gets 410. */
  compactOnWrite = false;
  /** Break every watch after this time; 0 for never. */
  cutWatchesAfterMs = 0;

  readonly #options: ApiServerOptions;
  readonly #identities = new Identities(this.authority);
  readonly #serverPair: KeyPair;
  readonly #sockets = new Set<Socket>();
  /** By the port of the client. */
  readonly #secured = new Map<number, Socket>();
  readonly #watches = new Set<Watch>();
  readonly #controllers: Disposable[];
  #server: Server | null = null;
  #bookmarks: Disposable | undefined;
  #port = 0;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    const { clock, random, historyLimit = 20_000, initialRevision = 5_000_000_000 } = options;
    this.faults = new Faults(random);
    const store = new Store(initialRevision, historyLimit);
    const now = (): number => clock.now() + this.clockSkewMs;
    this.registry = new Registry({ store, now, random, converters: options.converters ?? {} });
    const later = (work: () => void): void => this.#afterWrite(work);
    this.#controllers = [
      new GarbageCollector(this.registry, later),
      new NamespaceController(this.registry, later),
      store.subscribe(() => {
        if (this.compactOnWrite) queueMicrotask(() => store.compact(store.revision));
      }),
    ];
    this.#serverPair = this.authority.issue({
      commonName: "kube-apiserver",
      hosts: ["127.0.0.1", "localhost"],
    });
    this.#seed();
  }

  /** Starts a server with the objects of `options`. */
  static async start(options: ApiServerOptions): Promise<ApiServer> {
    const server = new ApiServer(options);
    await server.listen();
    return server;
  }

  #seed(): void {
    for (const name of ["default", ...(this.#options.namespaces ?? [])]) {
      this.registry.create(
        { resource: this.registry.stored("namespaces"), namespace: "", name },
        { metadata: { name } },
      );
    }
    for (const object of this.#options.objects ?? []) this.apply(object);
  }

  /** Creates an object as an administrator would, by its own kind and namespace. */
  apply(object: object): void {
    const { apiVersion, kind, metadata } = object as {
      apiVersion?: string;
      kind?: string;
      metadata?: { namespace?: string };
    };
    const [group = "", version = ""] = apiVersion?.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const resource = this.registry.resources.find(
      (one) => one.group === group && one.version === version && one.kind === kind,
    );
    if (resource === undefined) throw new Error(`no resource serves ${apiVersion ?? "?"} ${kind ?? "?"}`);
    const namespace = resource.namespaced ? (metadata?.namespace ?? "default") : "";
    this.registry.create({ resource, namespace, name: "" }, object);
  }

  #afterWrite(work: () => void): void {
    const { controllerDelayMs = 0, clock } = this.#options;
    if (controllerDelayMs === 0) queueMicrotask(work);
    else clock.schedule(clock.now() + controllerDelayMs, work, { unref: true });
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** The certificate that verifies this server, PEM. */
  get ca(): string {
    return this.authority.cert;
  }

  /** Bytes of HTTP that were sent on the open connection from this port; `null` for none. */
  bytesSentTo(port: number): number | null {
    return this.#secured.get(port)?.bytesWritten ?? null;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Makes a bearer token valid for an identity with these rights. */
  addToken(token: string, identity: Partial<Identity> & Pick<Identity, "user">): void {
    this.#identities.addToken(token, identity);
  }

  /** From now on a request with this token is 401; open watches go on, as on a real server. */
  revokeToken(token: string): void {
    this.#identities.revokeToken(token);
  }

  /** A client certificate whose user has these rights; organization `system:masters` may do all. */
  clientCertificate(user: string, organization: string, grants: readonly Grant[] = []): KeyPair {
    return this.#identities.clientCertificate(user, organization, grants);
  }

  /** Takes up connections again, on the port of before. */
  async listen(): Promise<void> {
    const { key, cert } = this.#serverPair;
    const tls = { key, cert, ca: this.ca, requestCert: true, rejectUnauthorized: false };
    const server = createServer(tls, (request, response) => void this.#serve(request, response));
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    server.on("secureConnection", (socket) => {
      const { remotePort = 0 } = socket;
      this.#secured.set(remotePort, socket);
      socket.on("close", () => {
        if (this.#secured.get(remotePort) === socket) this.#secured.delete(remotePort);
      });
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#scheduleBookmarks();
  }

  /** Breaks every connection and refuses new ones; the objects stay. `listen` brings it back. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    this.#bookmarks?.[Symbol.dispose]();
    const closed = once(server, "close");
    server.close();
    this.cutConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.#controllers) controller[Symbol.dispose]();
    await this.close();
  }

  /** Breaks every open connection, idle ones too. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Breaks every open watch. */
  cutWatches(): void {
    for (const watch of [...this.#watches]) watch.cut();
  }

  /** Ends every open watch in good order, as when its time is over. */
  endWatches(): void {
    for (const watch of [...this.#watches]) watch.end();
  }

  /** Forgets all history: lists in progress and watches that resume get 410. Open watches go on. */
  compact(): void {
    this.registry.store.compact(this.registry.store.revision);
  }

  /** Sends a bookmark to every watch that wants them. */
  bookmark(): void {
    for (const watch of this.#watches) watch.bookmark();
  }

  #scheduleBookmarks(): void {
    const { clock, bookmarkMs = 60_000 } = this.#options;
    this.#bookmarks = clock.schedule(
      clock.now() + bookmarkMs,
      () => {
        this.bookmark();
        this.#scheduleBookmarks();
      },
      { unref: true },
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let facts: RequestFacts | undefined;
    let code = 0;
    // By the cluster's own clock, as a real server dates its answers.
    response.setHeader("date", new Date(this.#options.clock.now() + this.clockSkewMs).toUTCString());
    try {
      const parsed = parseRequest(request.method ?? "GET", request.url ?? "/");
      const who = this.#identities.identify(request);
      if (parsed === null) {
        const found = discovery(this.registry, (request.url ?? "/").split("?")[0] ?? "/");
        if (found === null) throw new NoSuchPath();
        send(response, 200, found);
        return;
      }
      facts = factsOf(parsed, who.user);
      const after = await this.faults.strike(facts, response, this.#options.clock);
      if (after === "gone") return;
      authorize(who, { ...parsed, name: authorizedName(parsed) });
      code = await this.#perform(parsed, who.user, request, response, after);
    } catch (error) {
      code = fail(response, error);
    } finally {
      if (facts !== undefined) this.ledger.record({ ...facts, at: this.#options.clock.now(), code });
    }
  }

  async #perform(
    parsed: ParsedRequest,
    user: string,
    request: IncomingMessage,
    response: ServerResponse,
    after: "answer" | "cut",
  ): Promise<number> {
    const resource = resourceOf(this.registry, parsed);
    if (parsed.verb === "watch") {
      this.#watch(openWatch(this.registry, resource, parsed, response, user), parsed, response);
      return 200;
    }
    const contentType = (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
    const body = ["GET", "HEAD"].includes(parsed.method) ? undefined : await readBody(request);
    const result = answer(
      this.registry,
      resource,
      parsed,
      { contentType, accept: request.headers.accept ?? "" },
      body,
    );
    if (after === "cut") {
      response.destroy();
      return 0;
    }
    if (result.warnings.length > 0) {
      response.setHeader(
        "warning",
        result.warnings.map((text) => `299 - ${JSON.stringify(text)}`),
      );
    }
    send(response, result.code, result.body);
    return result.code;
  }

  #watch(watch: Watch, { query }: ParsedRequest, response: ServerResponse): void {
    const { clock, random } = this.#options;
    const asked = Number(query.get("timeoutSeconds") ?? 0) * 1000;
    const lasts = asked > 0 ? asked : SHORTEST_WATCH_MS * (1 + random());
    const timers = [clock.schedule(clock.now() + lasts, () => watch.end(), { unref: true })];
    if (this.cutWatchesAfterMs > 0) {
      timers.push(clock.schedule(clock.now() + this.cutWatchesAfterMs, () => watch.cut(), { unref: true }));
    }
    this.#watches.add(watch);
    response.on("close", () => {
      this.#watches.delete(watch);
      for (const timer of timers) timer[Symbol.dispose]();
      watch.end();
    });
    watch.start();
  }
}
