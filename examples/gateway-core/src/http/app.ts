import { Hono, type Context, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Gateway } from "../gateway/gateway.js";
import type { Log } from "../gateway/log.js";
import { sameSecret } from "../gateway/supervisor-auth.js";
import type { GatewayMetrics } from "../metrics/gateway-metrics.js";
import { answerError, errorBody } from "./errors.js";
import { localOnly } from "./local-only.js";
import { metricsRoutes, requestsCounted } from "./metrics-routes.js";
import { DEFAULT_STREAMS, OpenAnswers, type OpenLimit, type OpenLimits } from "./open-answers.js";
import { pageRoutes } from "./page-routes.js";
import { rateLimited, type RateLimits } from "./rate-limits.js";
import { bearer } from "./request-input.js";
import { supervisorRoutes } from "./supervisor-routes.js";
import { userRoutes } from "./user-routes.js";

export interface AppOptions {
  readonly gateway: Gateway;
  readonly log: Log;
  /** What users must present. Absent: whoever is on this machine may use it, and nobody else. */
  readonly ownerToken?: string | undefined;
  /** What the metrics are told from. Absent: there are none. */
  readonly metrics?: GatewayMetrics | undefined;
  /** Opens the metrics and nothing else, for whoever collects them. The owner's token opens them as well. */
  readonly metricsToken?: string | undefined;
  /** Absent: no limits. */
  readonly rates?: RateLimits | undefined;
  /** How many streams of events may be open. Default: {@link DEFAULT_STREAMS}. */
  readonly streams?: OpenLimits | undefined;
  /** Aborts when the gateway ends: streams and held questions end then. */
  readonly closing?: AbortSignal | undefined;
}

const MAX_BODY_BYTES = 256 * 1024;

export function buildApp(options: AppOptions): Hono {
  const { gateway, log, ownerToken, metrics, metricsToken, rates } = options;
  const closing = options.closing ?? new AbortController().signal;
  const now = (): number => gateway.clock.now();
  const app = new Hono();
  app.onError((error, context) => answerError(error, context, log));
  app.notFound((context) =>
    context.json(
      errorBody("not-found", `there is nothing at ${context.req.method} ${context.req.path}`),
      404,
    ),
  );
  if (metrics !== undefined) app.use(requestsCounted(metrics, now));
  if (rates !== undefined) app.use(rateLimited(rates, now));
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context: Context) =>
        context.json(errorBody("too-large", `a body may have ${MAX_BODY_BYTES} bytes at most`), 413),
    }),
  );
  app.get("/healthz", (context) => context.json({ ok: true }));
  app.get("/readyz", async (context) => {
    const readiness = await gateway.readiness();
    return context.json(readiness, readiness.ready ? 200 : 503, { "cache-control": "no-store" });
  });
  app.route("/", pageRoutes({ now, localOnly: ownerToken === undefined }));
  if (metrics !== undefined) {
    app.use("/metrics", onlyWith([ownerToken, metricsToken]));
    app.route("/", metricsRoutes(metrics));
  }
  app.route("/v1/supervisor", supervisorRoutes(gateway, closing));
  app.use("/v1/*", onlyWith([ownerToken]));
  const streams = new OpenAnswers(options.streams ?? DEFAULT_STREAMS);
  metrics?.countStreams(() => streams.size);
  const onRefused = (limit: OpenLimit): void => metrics?.streamRefused(limit);
  app.route("/v1", userRoutes({ gateway, closing, streams, onRefused, log }));
  return app;
}

/** Lets in whoever has one of the tokens; where there is none, whoever is on this machine. */
function onlyWith(tokens: readonly (string | undefined)[]): MiddlewareHandler {
  const valid = tokens.filter((token) => token !== undefined);
  if (valid.length === 0) return localOnly;
  return async (context, next) => {
    // Each is compared, so that the time says nothing about which it was.
    const given = bearer(context);
    const matches = valid.map((token) => sameSecret(given, token));
    // Nothing is no token, whatever a gateway was configured with.
    if (given !== "" && matches.includes(true)) return next();
    return context.json(errorBody("unauthorized", "a valid owner token is required"), 401);
  };
}
