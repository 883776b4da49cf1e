import { Hono, type Context } from "hono";
import { basename } from "node:path";
import { readContract } from "slipway/conditions";
import type { Gateway } from "../gateway/gateway.js";
import { messageOf } from "../gateway/log.js";
import { NoSuchSandboxError, type VersionedRecord } from "../gateway/sandbox-records.js";
import type { OperationResult } from "../decide/operations.js";
import { REASON_CONTRACT_HEADER } from "./contract-header.js";
import { createBody, listQuery, updateBody } from "./bodies.js";
import { discreetView } from "./discreet-view.js";
import { errorBody, statusOf } from "./errors.js";
import { streamAll, streamOne, type StreamOptions } from "./event-streams.js";
import { readBody, readQuery } from "./request-input.js";
import { viewOf, type SandboxView } from "./view.js";

export type UserRoutesOptions = Omit<StreamOptions, "view">;

/** What users and their tools may do. Progress and reports do not come in here. */
export function userRoutes({ gateway, ...following }: UserRoutesOptions): Hono {
  const app = new Hono();
  /** Reasons as the request's contract has them: one that does not ask gets what it always got. */
  const viewer =
    (context: Context) =>
    ({ record, version }: VersionedRecord): SandboxView => {
      const view = viewOf(record, version, {
        now: gateway.clock.now(),
        refusals: gateway.refusals.of(record.id),
        standing: gateway.standing(record),
        contract: readContract(context.req.header(REASON_CONTRACT_HEADER)),
      });
      return discreetView(view, record);
    };
  const answer = (context: Context, changed: VersionedRecord & { result: OperationResult }): Response => {
    const { result } = changed;
    if (!result.ok) return context.json(errorBody(result.code, result.message), statusOf(result.code));
    return context.json({ ...viewer(context)(changed), changed: result.changed }, result.changed ? 202 : 200);
  };

  app.post("/sandboxes", async (context) => {
    const { name, driver, image, command, policy, driverOptions, budgets } = await readBody(
      context,
      createBody,
    );
    const named = { ...image, name: image.name ?? basename(image.path ?? "") };
    const spec = { driver: driver ?? gateway.defaultDriver, image: named, command, driverOptions, budgets };
    const created = await gateway.create({ name, spec, policy });
    if (created.result === "name-taken") {
      return context.json(
        errorBody("name-taken", `there is another sandbox named ${JSON.stringify(name)}`),
        409,
      );
    }
    return context.json(viewer(context)(created), created.result === "created" ? 201 : 200);
  });

  app.get("/sandboxes", async (context) => {
    const { items, next } = await gateway.records.list(readQuery(context, listQuery));
    return context.json({
      items: items.flatMap((item) => ("record" in item ? [viewer(context)(item)] : [])),
      unreadable: items.flatMap((item) =>
        "error" in item ? [{ id: item.id, message: messageOf(item.error) }] : [],
      ),
      next,
    });
  });

  app.get("/sandboxes/:id", async (context) =>
    context.json(viewer(context)(await find(gateway, context.req.param("id")))),
  );
  app.get("/sandboxes/:id/watch", async (context) => {
    const { record } = await find(gateway, context.req.param("id"));
    return streamOne(context, { gateway, ...following, view: viewer(context) }, record.id);
  });
  app.get("/events", (context) => streamAll(context, { gateway, ...following, view: viewer(context) }));

  app.put("/sandboxes/:id/configuration", async (context) => {
    const write = await readBody(context, updateBody);
    const { record } = await find(gateway, context.req.param("id"));
    const changed = await gateway.update(record.id, write);
    const { result } = changed;
    if (!result.ok) return context.json(errorBody(result.code, result.message), statusOf(result.code));
    const { renewed, sameContent } = { renewed: false, sameContent: false, ...result };
    return context.json({ ...viewer(context)(changed), renewed, sameContent });
  });
  app.post("/sandboxes/:id/start", async (context) => {
    const { record } = await find(gateway, context.req.param("id"));
    return answer(context, await gateway.startSandbox(record.id));
  });
  app.post("/sandboxes/:id/stop", async (context) => {
    const { record } = await find(gateway, context.req.param("id"));
    return answer(context, await gateway.stopSandbox(record.id));
  });
  app.delete("/sandboxes/:id", async (context) => {
    const { record } = await find(gateway, context.req.param("id"));
    return answer(context, await gateway.deleteSandbox(record.id));
  });
  return app;
}

/** A sandbox by its id or its name; bound to the id from then on. */
async function find(gateway: Gateway, idOrName: string): Promise<VersionedRecord> {
  const found = (await gateway.records.read(idOrName)) ?? (await gateway.records.findByName(idOrName));
  if (found === null) throw new NoSuchSandboxError(idOrName);
  return found;
}
