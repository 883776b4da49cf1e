import { PermanentDriverError } from "@slipway-examples/gateway-core";
import Docker from "dockerode";

/**
 * A client of the engine at an address as `DOCKER_HOST` spells it: `unix:///path`, `tcp://host:port`, `ssh://…`.
 * Without one the variables of Docker's own command line count (`DOCKER_HOST`, `DOCKER_TLS_VERIFY`,
 * `DOCKER_CERT_PATH`), and at last the usual socket. Podman's compatible API is an engine like any other.
 */
export function connectEngine(host?: string): Docker {
  if (host === undefined) return new Docker();
  if (host.startsWith("unix://")) {
    // A `DOCKER_HOST` of the environment would otherwise win over the socket.
    return new Docker({ socketPath: host.slice("unix://".length), host: undefined });
  }
  const url = new URL(host);
  const port = url.port === "" ? undefined : Number(url.port);
  const protocol = url.protocol === "https:" || url.port === "2376" ? "https" : "http";
  if (url.protocol === "ssh:")
    return new Docker({ protocol: "ssh", host: url.hostname, username: url.username, port: port ?? 22 });
  return new Docker({ protocol, host: url.hostname, port: port ?? 2375 });
}

/** The engine's answer when it is one: an error without a status is the way to the engine that failed. */
export function statusOf(error: unknown): number | null {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === "number" ? status : null;
}

/** What the engine said, without the client's frame around it. For people: nothing parses it. */
export function engineMessage(error: unknown): string {
  const said = (error as { json?: { message?: unknown } | null } | null)?.json?.message;
  if (typeof said === "string" && said !== "") return said;
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^\(HTTP code \d+\) [\w ]+ - /, "").trim();
}

/** An engine that calls the request itself faulty means it; not-found and conflicts may pass, as its own faults do. */
export function refusal(reason: string, what: string, error: unknown): Error {
  const message = `${what}: ${engineMessage(error)}`;
  if (statusOf(error) === 400) return new PermanentDriverError(reason, message, { cause: error });
  return new Error(message, { cause: error });
}

/** Lets the given answers of the engine pass as done: the object is gone already, or the state is reached. */
export async function unless(statuses: readonly number[], call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const status = statusOf(error);
    if (status === null || !statuses.includes(status)) throw error;
  }
}

/** The messages of a stream of JSON lines, as the engine answers a pull or shows its events. */
export async function* jsonLines(stream: NodeJS.ReadableStream): AsyncGenerator<Record<string, unknown>> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = parse(line);
      if (message !== null) yield message;
    }
  }
  const last = parse(rest);
  if (last !== null) yield last;
}

/** The failure that one of these messages tells, `null` for any other. The plain `error` is gone from newer engines. */
export function failureIn(message: Readonly<Record<string, unknown>>): string | null {
  const { error, errorDetail } = message;
  const texts = [(errorDetail as { message?: unknown } | null | undefined)?.message, error];
  for (const text of texts) if (typeof text === "string" && text !== "") return text;
  return (errorDetail ?? error ?? null) === null ? null : "no reason was given";
}

/** A line that an engine of another version or a broken connection garbled is no message. */
function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
