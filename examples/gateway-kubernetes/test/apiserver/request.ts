import type { IncomingMessage } from "node:http";
import type { Attributes } from "./access.js";
import { badRequest, tooLarge } from "./status.js";

const BODY_LIMIT = 3 * 1024 * 1024;

export interface ParsedRequest extends Attributes {
  readonly method: string;
  readonly query: URLSearchParams;
}

interface Place {
  readonly group: string;
  readonly version: string;
  readonly rest: string[];
}

function place(path: string): Place | null {
  const [root, ...parts] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (root === "api" && parts.length > 1) return { group: "", version: parts[0] ?? "", rest: parts.slice(1) };
  if (root === "apis" && parts.length > 2) {
    return { group: parts[0] ?? "", version: parts[1] ?? "", rest: parts.slice(2) };
  }
  return null;
}

function verbOf(method: string, named: boolean, watch: boolean): string {
  if (method === "GET" || method === "HEAD") return watch ? "watch" : named ? "get" : "list";
  if (method === "DELETE") return named ? "delete" : "deletecollection";
  return { POST: "create", PUT: "update", PATCH: "patch" }[method] ?? method.toLowerCase();
}

/** A request for a resource, or null for another path. */
export function parseRequest(method: string, url: string): ParsedRequest | null {
  const { pathname, searchParams: query } = new URL(url, "https://server.invalid");
  const found = place(pathname);
  if (found === null) return null;
  const { group, version } = found;
  let { rest } = found;
  let namespace = "";
  // `namespaces/x` and `namespaces/x/status` are the namespace itself, longer ones are within it.
  if (rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize") {
    namespace = rest[1] ?? "";
    rest = rest.slice(2);
  }
  const [plural = "", name = "", subresource = "", ...more] = rest;
  if (more.length > 0) return null;
  const watch = ["true", "1"].includes(query.get("watch") ?? "");
  const verb = verbOf(method, name !== "", watch && name === "");
  // A namespace is authorized in itself.
  if (plural === "namespaces" && group === "") namespace = name;
  return { method, query, group, version, plural, namespace, name, subresource, verb };
}

/** A list or watch of one name is authorized under that name. */
export function authorizedName({ verb, name, query }: ParsedRequest): string {
  if (verb !== "list" && verb !== "watch") return name;
  return /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1] ?? "";
}

/** The JSON of the body, undefined for none. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  // A body that is too large is read to its end all the same, so that the connection stays good for the next request.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  if (size > BODY_LIMIT) throw tooLarge(`Request entity too large: limit is ${BODY_LIMIT}`);
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${String(error)}`);
  }
}
