import type { Hono } from "hono";
import { expect } from "vitest";
import type { SandboxView } from "../src/http/view.js";
import type { Bench } from "./bench.js";

/** What a request to create may say. */
export const BOX = { name: "box", driver: "fake", image: { path: "/image" }, command: ["work"] };

export function sendTo(
  app: Hono,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const init = { method, headers };
  return app.request(
    path,
    body === undefined ? init : { ...init, body: typeof body === "string" ? body : JSON.stringify(body) },
  );
}

/** Creates a sandbox, and waits for what that begins. */
export async function createOn(app: Hono, bench: Bench, fields: object = {}): Promise<SandboxView> {
  const response = await sendTo(app, "POST", "/v1/sandboxes", { ...BOX, ...fields });
  expect(response.status).toBe(201);
  await bench.settle();
  return (await response.json()) as SandboxView;
}
