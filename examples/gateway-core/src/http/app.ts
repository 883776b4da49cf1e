import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Gateway } from "../gateway/gateway.js";
import type { Log } from "../gateway/log.js";
import { sameSecret } from "../gateway/supervisor-auth.js";
import { answerError, errorBody } from "./errors.js";
import { localOnly } from "./local-only.js";
import { pageRoutes } from "./page-routes.js";
import { bearer } from "./request-input.js";
import { supervisorRoutes } from "./supervisor-routes.js";
import { userRoutes } from "./user-routes.js";

export interface AppOptions {
  readonly gateway: Gateway;
  readonly log: Log;
  /** What users must present. Absent: whoever is on this machine may use it, and nobody else. */
  readonly ownerToken?: string | undefined;
}

const MAX_BODY_BYTES = 256 * 1024;

export function buildApp({ gateway, log, ownerToken }: AppOptions): Hono {
  const app = new Hono();
  app.onError((error, context) => answerError(error, context, log));
  app.notFound((context) =>
    context.json(
      errorBody("not-found", `there is nothing at ${context.req.method} ${context.req.path}`),
      404,
    ),
  );
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context: Context) =>
        context.json(errorBody("too-large", `a body may have ${MAX_BODY_BYTES} bytes at most`), 413),
    }),
  );
  app.get("/healthz", (context) => context.json({ ok: true }));
  app.route("/", pageRoutes({ now: () => gateway.clock.now(), localOnly: ownerToken === undefined }));
  app.route("/v1/supervisor", supervisorRoutes(gateway));
  if (ownerToken === undefined) app.use("/v1/*", localOnly);
  app.use("/v1/*", async (context: Context, next) => {
    if (ownerToken !== undefined && !sameSecret(bearer(context), ownerToken)) {
      return context.json(errorBody("unauthorized", "a valid owner token is required"), 401);
    }
    await next();
    return undefined;
  });
  app.route("/v1", userRoutes(gateway));
  return app;
}
