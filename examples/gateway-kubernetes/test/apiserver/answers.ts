import type { ServerResponse } from "node:http";
import { ApiError, NoSuchPath } from "./status.js";

export function send(response: ServerResponse, code: number, body: unknown): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(code, {
    "content-type": typeof body === "string" ? "text/plain; charset=utf-8" : "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/** Sends a refusal as its `Status`; anything else that was thrown is a 500. Tells the code, 0 for a broken stream. */
export function fail(response: ServerResponse, error: unknown): number {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return 0;
  }
  if (error instanceof NoSuchPath) {
    send(response, 404, "404 page not found\n");
    return 404;
  }
  const known =
    error instanceof ApiError
      ? error
      : new ApiError(500, "InternalError", `Internal error occurred: ${String(error)}`);
  const retryAfter = known.details?.retryAfterSeconds;
  if (retryAfter !== undefined) response.setHeader("retry-after", String(retryAfter));
  send(response, known.code, known.body());
  return known.code;
}
