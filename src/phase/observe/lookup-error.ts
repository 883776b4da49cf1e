import { at, member, objectOf, textOf, wordOf } from "./json.js";

/** The codes that mean not-found: HTTP, gRPC (number and name), libvirt's "no domain" (number and name). */
const NOT_FOUND_CODES: ReadonlySet<unknown> = new Set([404, "404", 5, "NOT_FOUND", 42, "VIR_ERR_NO_DOMAIN"]);

/**
 * Whether a failed look-up is a definite answer that the object does not exist.
 *
 * A Kubernetes Status has to name the object: a 404 without a name is an API that is not served, which says nothing
 * about the object. A transport error, a refusal or a 5xx is never an answer. The message is not read.
 */
export function isNotFound(error: unknown): boolean {
  const object = objectOf(error);
  if (object === null || textOf(object["transport"]) !== null) return false;
  if (isKubernetesStatus(object)) return isStatusOfObject(object);
  const body = objectOf(member(object, "body")) ?? objectOf(at(object, "response", "body"));
  if (body !== null && isKubernetesStatus(body)) return isStatusOfObject(body);
  return (
    NOT_FOUND_CODES.has(object["code"]) ||
    NOT_FOUND_CODES.has(object["statusCode"]) ||
    // Podman's own answer.
    NOT_FOUND_CODES.has(object["response"]) ||
    (typeof object["status"] !== "string" && NOT_FOUND_CODES.has(object["status"])) ||
    at(object, "response", "status") === 404 ||
    at(object, "response", "statusCode") === 404
  );
}

function isKubernetesStatus(object: Readonly<Record<string, unknown>>): boolean {
  return object["kind"] === "Status" || (wordOf(object["status"]) === "failure" && "reason" in object);
}

function isStatusOfObject(status: Readonly<Record<string, unknown>>): boolean {
  const notFound =
    wordOf(status["reason"]) === "notfound" || (!("reason" in status) && status["code"] === 404);
  if (!notFound) return false;
  const code = status["code"];
  if (code !== undefined && code !== null && code !== 404) return false;
  const details = objectOf(status["details"]);
  return details === null || textOf(details["name"]) !== null;
}
