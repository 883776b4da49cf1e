import { checkInput, type ImageSpec, type JsonObject } from "@slipway-examples/gateway-core";
import { z } from "zod";

/** No check of an engine waits longer than an hour. */
const duration = z.int().max(3_600_000);

/** What a create request may say to the Docker driver, as `driverOptions`. */
const schema = z.strictObject({
  /** When to ask the registry: when the image is not there (default), every time, or never. */
  pull: z.enum(["missing", "always", "never"]).optional(),
  /** The engine takes no less than 6 MiB. */
  memoryBytes: z.int().min(6_291_456).optional(),
  cpus: z.number().positive().max(1024).optional(),
  /** How many processes and threads the sandbox may have. Default 512. */
  pids: z.int().positive().max(100_000).optional(),
  /** In place of the image's own health check. With one, the sandbox is ready only while it passes. */
  healthcheck: z
    .strictObject({
      command: z.array(z.string()).min(1),
      intervalMs: duration.min(1).optional(),
      timeoutMs: duration.min(1).optional(),
      startPeriodMs: duration.min(0).optional(),
      retries: z.int().positive().max(1000).optional(),
    })
    .optional(),
});

export type DockerOptions = z.infer<typeof schema>;

/** @throws InvalidInputError naming the field, what was expected there, and what was found. */
export function parseDockerOptions(options: JsonObject): DockerOptions {
  return checkInput(schema, options, "driverOptions");
}

const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/i;
const PART = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,}$/i;

/** An image reference in its parts, `null` when no engine would take it. */
export function parseReference(
  reference: string,
): { readonly repository: string; readonly tag: string | null; readonly digest: string | null } | null {
  const [named = "", digest = null, ...more] = reference.split("@");
  if (more.length > 0 || (digest !== null && !DIGEST.test(digest))) return null;
  const colon = named.lastIndexOf(":");
  const tagged = colon > named.lastIndexOf("/");
  const repository = tagged ? named.slice(0, colon) : named;
  const tag = tagged ? named.slice(colon + 1) : null;
  const [first = "", ...rest] = repository.split("/");
  const withHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const parts = withHost ? rest : [first, ...rest];
  const valid =
    repository.length <= 255 &&
    (!withHost || HOST.test(first)) &&
    parts.every((part) => PART.test(part)) &&
    (tag === null || TAG.test(tag));
  return valid ? { repository, tag, digest } : null;
}

/** The reference as it is pulled: without a tag or digest the engine would fetch every tag that there is. */
export function pulledReference(reference: string): string {
  const parsed = parseReference(reference);
  return parsed?.tag === null && parsed.digest === null ? `${reference}:latest` : reference;
}

/** The archive to import, where the image is one. */
export function archiveOf(image: Partial<ImageSpec>): string | null {
  return image.path === undefined || image.path === "" ? null : image.path;
}
