import type { Context } from "hono";
import { errorBody } from "./errors.js";
import type { OpenLimit } from "./open-answers.js";

const RETRY_AFTER = { "retry-after": "5" };

/** The answer to whoever would hold one more open than may be. */
export function refuseOpen(context: Context, limit: OpenLimit): Response {
  return limit === "client"
    ? context.json(
        errorBody("too-many-open", "this client holds as many answers open as it may"),
        429,
        RETRY_AFTER,
      )
    : context.json(errorBody("busy", "the gateway holds as many streams open as it may"), 503, RETRY_AFTER);
}
