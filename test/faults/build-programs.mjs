/**
 * Makes programs of the bench's TypeScript. What belongs to the gateway is not built in but taken from its own build,
 * so that a broken gateway is that build with one part replaced.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const gateway = new URL("../../examples/gateway-core/", here);

/** @type {import("esbuild").Plugin} */
const gatewayFromItsBuild = {
  name: "gateway-from-its-build",
  setup({ onResolve }) {
    onResolve({ filter: /gateway-core\/src\/|^\.\.?\/(?:.*\/)?src\// }, ({ path, importer }) => {
      const source = new URL(path, `file://${importer}`).href;
      const from = new URL("src/", gateway).href;
      if (!source.startsWith(from)) return undefined;
      return { path: fileURLToPath(source.replace(from, new URL("dist/", gateway).href)), external: true };
    });
  },
};

/** Where the programs are, as a URL that ends with a slash. */
export async function buildPrograms() {
  if (!existsSync(new URL("dist/cli.js", gateway)))
    throw new Error("the gateway is not built: npm run build && npm run build:examples");
  const outdir = new URL(".built/", here);
  await build({
    entryPoints: ["run.ts", "broken-gateway.ts"].map((name) => fileURLToPath(new URL(name, here))),
    outdir: fileURLToPath(outdir),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    plugins: [gatewayFromItsBuild],
    logLevel: "warning",
  });
  return outdir;
}
