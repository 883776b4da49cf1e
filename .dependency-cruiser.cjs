/**
 * The layers of docs/design: imports go one way, and each runtime dependency has one home.
 * `src/index.ts` is above everything; `testing` is for users' tests and nothing in `src` may lean on it.
 */
const room = (name) => `^src/${name}/`;
const only = (from, allowed) => ({
  name: `${from}-imports`,
  comment: `src/${from} may import: ${["errors", ...allowed].join(", ")}`,
  severity: "error",
  from: { path: room(from), pathNot: "\\.test(-d)?\\.ts$" },
  to: { path: "^src/", pathNot: [room(from), "^src/errors\\.ts$", ...allowed.map(room)] },
});
const home = (pkg, path) => ({
  name: `home-of-${pkg}`,
  comment: `${pkg} is imported in one place only`,
  severity: "error",
  from: { path: "^src/", pathNot: [path, "\\.test\\.ts$"] },
  to: { path: `node_modules/${pkg}/` },
});

module.exports = {
  forbidden: [
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    { name: "no-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    only("clock", []),
    only("events", []),
    only("conditions", []),
    only("deadline", ["clock", "conditions", "events"]),
    only("retry", ["clock", "conditions", "deadline", "events"]),
    only("phase", ["clock", "conditions", "deadline", "events"]),
    only("progress", ["clock", "conditions", "deadline", "events"]),
    only("schema", ["clock", "conditions", "deadline", "retry", "phase", "progress"]),
    only("testing", ["clock", "conditions", "deadline", "retry", "phase", "progress"]),
    home("zod", "(^src/schema/|/schema\\.ts$)"),
    home("eventemitter3", "^src/events/"),
    home("p-retry", "^src/retry/"),
    home("abort-controller-x", "^src/retry/"),
    {
      name: "primitives-without-zod",
      comment:
        "Only slipway/schema (and the command line) reaches a schema file, so the primitives stay light",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/schema/", "^src/cli/", "/schema\\.ts$", "\\.test\\.ts$"] },
      to: { path: ["^src/schema/", "^src/.*/schema\\.ts$"] },
    },
    {
      name: "no-node-builtins-in-src",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/cli/", "\\.test\\.ts$"] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "src-has-four-dependencies",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test(-d)?\\.ts$" },
      to: {
        path: "node_modules/",
        pathNot: "node_modules/(zod|eventemitter3|p-retry|abort-controller-x)/",
      },
    },
    {
      name: "src-knows-no-example",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^examples/" },
    },
    {
      name: "examples-use-the-package",
      comment: "Examples import slipway by its published entries, as a user does",
      severity: "error",
      from: { path: "^examples/" },
      to: { path: "^src/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
  },
};
