/**
 * Documents what no comment can stand at, because the compiler infers it:
 *
 * - the names of `ReasonV1` and `ReasonV2` are the catalog's, so each carries the catalog's own summary;
 * - what is inside a zod schema says which interface describes it.
 *
 * Reads the built package, as the docs are of what is published.
 */
import { Comment, Converter } from "typedoc";
import { sandboxReasons } from "../dist/conditions/index.js";

const describe = {
  ReasonV1: summaryOf,
  ReasonV2: summaryOf,
  conditionSchema: () => "As in `Condition` of `slipway/conditions`.",
  conditionListSchema: () => "As in `Condition` of `slipway/conditions`.",
  reasonCatalogSchema: () => "As in `ReasonCatalog` of `slipway/conditions`.",
};

function summaryOf(name) {
  return sandboxReasons.reasons[name]?.summary;
}

/** The variable inside whose inferred type a reflection stands. */
function inferredFrom({ parent }) {
  if (parent?.name !== "__type") return undefined;
  const owner = parent.parent;
  return owner !== undefined && Object.hasOwn(describe, owner.name) ? owner.name : inferredFrom(owner);
}

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const reflection of Object.values(project.reflections)) {
      const text = describe[inferredFrom(reflection)]?.(reflection.name);
      if (text !== undefined) reflection.comment ??= new Comment([{ kind: "text", text }]);
    }
  });
}
