import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** Where a server is and who asks. */
export interface Endpoint {
  readonly url: string;
  readonly ca: string;
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What the suite reads of objects, lists and Statuses alike. A field that is not there fails the test that wants it. */
export interface Body {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly managedFields?: unknown;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly data?: Readonly<Record<string, string>>;
  readonly items: readonly Body[];
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details: {
    readonly causes: readonly { readonly reason: string; readonly field: string; readonly message: string }[];
    readonly retryAfterSeconds?: number;
    readonly uid?: string;
  };
}

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
}

interface Extra {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

/** A watch's events one by one; null when the server has ended it in good order. */
export interface WatchReader extends Disposable {
  readonly code: number;
  next(): Promise<WatchEvent | null>;
}

/** Plain HTTPS: what the protocol suite speaks, so that no client library hides anything. */
export class Https implements Disposable {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  get(path: string): Promise<Reply> {
    return this.send("GET", path);
  }

  post(path: string, body: unknown): Promise<Reply> {
    return this.send("POST", path, body);
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.send("PUT", path, body);
  }

  merge(path: string, body: unknown): Promise<Reply> {
    return this.send("PATCH", path, body, { type: "application/merge-patch+json" });
  }

  delete(path: string, options?: unknown): Promise<Reply> {
    return this.send("DELETE", path, options);
  }

  async send(method: string, path: string, body?: unknown, extra: Extra = {}): Promise<Reply> {
    const response = await this.#open(method, path, body, extra);
    const received = await text(response);
    const isJson = (response.headers["content-type"] ?? "").includes("json");
    return {
      code: response.statusCode ?? 0,
      headers: response.headers,
      body: (isJson ? JSON.parse(received) : received) as Body,
    };
  }

  async watch(path: string): Promise<WatchReader> {
    const response = await this.#open("GET", path, undefined, {});
    const lines = jsonLines(response);
    return {
      code: response.statusCode ?? 0,
      next: async () => {
        const step = await lines.next();
        return step.done === true ? null : step.value;
      },
      [Symbol.dispose]: () => {
        response.destroy();
      },
    };
  }

  #open(method: string, path: string, body: unknown, { type, headers }: Extra): Promise<IncomingMessage> {
    const { url, ca, token, cert, key } = this.#endpoint;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      ca,
      ...(cert === undefined ? {} : { cert, key }),
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined
          ? {}
          : { "content-type": type ?? "application/json", "content-length": Buffer.byteLength(payload) }),
        ...headers,
      },
    };
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(new URL(path, url), options, resolve);
      sent.on("error", reject);
      sent.end(payload);
    });
  }
}

async function* jsonLines(response: IncomingMessage): AsyncGenerator<WatchEvent, undefined> {
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as WatchEvent;
  }
  return undefined;
}
