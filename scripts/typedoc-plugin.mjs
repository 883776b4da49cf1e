/**
 * Gives pages the names that their readers know: the main entry that of the package, and a document without a title in
 * front of it that of its first heading, where typedoc would take its path.
 *
 * Documents what no comment can stand at, because the compiler infers it:
 *
 * - the names of `ReasonV1` and `ReasonV2` are the catalog's, so each carries the catalog's own summary;
 * - what is inside a zod schema says which interface describes it.
 *
 * Reads the built package, as the docs are of what is published.
 */
import { Comment, Converter, ReflectionKind } from "typedoc";
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

function firstHeading({ content }) {
  const text = content.map((part) => part.text).join("");
  return /^# (.+)$/m.exec(text)?.[1];
}

/** Whether a front matter has named it already; typedoc names the others by their path, less the ending. */
function hasTitle(document, path) {
  return !path.replace(/\.[^.]+$/, "").endsWith(document.name);
}

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const path = document.project.files.getReflectionPath(document) ?? "";
    if (!hasTitle(document, path)) document.name = firstHeading(document) ?? document.name;
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module))
      if (module.name === "index") module.name = "slipway";
    for (const reflection of Object.values(project.reflections)) {
      const text = describe[inferredFrom(reflection)]?.(reflection.name);
      if (text !== undefined) reflection.comment ??= new Comment([{ kind: "text", text }]);
    }
  });
}
