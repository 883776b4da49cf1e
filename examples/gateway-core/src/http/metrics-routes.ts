import { Hono, type MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { GatewayMetrics } from "../metrics/gateway-metrics.js";

const METHODS = new Set(["GET", "POST", "PUT", "DELETE"]);

export function metricsRoutes(metrics: GatewayMetrics): Hono {
  const app = new Hono();
  app.get("/metrics", async (context) =>
    context.body(await metrics.render(), 200, { "content-type": metrics.contentType }),
  );
  return app;
}

/** Counts every answer by the pattern of its route. What matched none but patterns for everything is `other`. */
export function requestsCounted(metrics: GatewayMetrics, now: () => number): MiddlewareHandler {
  return async (context, next) => {
    const startedAt = now();
    await next();
    const { method } = context.req;
    const route = matchedRoutes(context).findLast(({ path }) => !path.endsWith("*"))?.path ?? "other";
    metrics.answered({
      method: METHODS.has(method) ? method : "other",
      route,
      status: context.res.status,
      seconds: Math.max(now() - startedAt, 0) / 1000,
    });
  };
}
