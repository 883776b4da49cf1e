/**
 * A test runner for Stryker: the unit tests of one room (`MUTATION_ROOM`) in one process that stays. Test files are
 * imported once; for a mutant only the tests that reach it run again, until one fails. That takes milliseconds, where
 * a start of Vitest for each of thousands of mutants takes seconds.
 *
 * What stays between mutants is what modules keep, so a failure counts only when the same test passes again without
 * the mutant. Where it does not, a mutant left something behind: the process ends, and Stryker tries the mutant again
 * in a new one.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { INSTRUMENTER_CONSTANTS } from "@stryker-mutator/api/core";
import { declareFactoryPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { transformSync } from "esbuild";
import fc from "fast-check";

const STAND_IN = new URL("vitest-stand-in.mjs", import.meta.url).href;
/** No test takes longer than this, and one that a mutant leaves waiting for ever need not wait it out. */
const TEST_LIMIT_MS = 20_000;
const limitAfter = (ms) => Math.min(TEST_LIMIT_MS, 500 + 20 * ms);
/** The quickest first: most mutants fail a quick test too, and one that leaves every test waiting is given up soon. */
const byDuration = (durations) => (a, b) => (durations.get(a.id) ?? 0) - (durations.get(b.id) ?? 0);

/** Long walks and property tests, which run last: a mutant that a unit test kills never sees them. */
const LATE =
  /^test\/|odd-lists|foreign-words|word-index|compare-(catalogs|emissions)|reworded-catalog|retry\/(abort\.|snapshot)/;
/** Minutes of combinations, races on real timers, servers, processes and generated pages. */
const LEFT_OUT =
  /^test\/(deadline\/exhaustive|phase\/(any-json|gates|guide|metamorphic|reconciler-races|totality)|retry\/)/;
/** Single tests of the same kind, and one that counts cases, of which there are fewer here. */
const TOO_LONG =
  /100 000|a way out that is one|than a call takes arguments|more than eight kinds|beside another difference|asked before changes no answer|deep value in it/;

function testFiles(sources) {
  const room = process.env.MUTATION_ROOM;
  return sources
    .filter((file) => file.endsWith(".test.ts") && !LEFT_OUT.test(file))
    .filter((file) => [`src/${room}/`, `test/${room}/`, "test/seeds/"].some((root) => file.startsWith(root)))
    .sort((a, b) => Number(LATE.test(a)) - Number(LATE.test(b)) || (a < b ? -1 : 1));
}

/**
 * Writes the JavaScript of every module beside it, so that imports and paths stay what they are. Property tests that
 * say how many cases they draw draw a tenth: a survivor has to live through all of them.
 */
function compile() {
  const sources = ["src", "test"].flatMap((root) =>
    readdirSync(root, { recursive: true })
      .map((file) => `${root}/${file}`)
      .filter((file) => file.endsWith(".ts") && !/\.(test-d|d)\.ts$/.test(file)),
  );
  for (const file of sources) {
    const { code } = transformSync(readFileSync(file, "utf8"), {
      loader: "ts",
      target: "node20",
      format: "esm",
    });
    const module = code
      .replace('from "vitest"', `from "${STAND_IN}"`)
      .replace(/(from "[^"]+\.json");/g, '$1 with { type: "json" };')
      .replace(
        /numRuns: ([\d_]+)/g,
        (_, runs) => `numRuns: ${Math.ceil(Number(runs.replaceAll("_", "")) / 10)}`,
      );
    writeFileSync(file.replace(/\.ts$/, ".js"), module);
  }
  return sources;
}

/** Kept beside the copied sources, because a process that takes the place of one that ended makes no dry run. */
const DURATIONS = "test-durations.json";

class InProcessRunner {
  #harness;
  /** What each test took without a mutant, by its id. It may take many times that with one. */
  #durations = new Map();
  namespace = (globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {});

  /** Nothing is loaded again: what a test file computes while it is collected comes from the code without a mutant. */
  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const sources = compile();
    this.#harness = await import(STAND_IN);
    for (const file of testFiles(sources)) {
      const url = pathToFileURL(resolve(file.replace(/\.ts$/, ".js"))).href;
      await this.#harness.collect(file, () => import(url));
    }
    if (existsSync(DURATIONS)) this.#durations = new Map(JSON.parse(readFileSync(DURATIONS, "utf8")));
    // That a property fails is enough: nobody reads by which smallest case.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
  }

  async dryRun() {
    this.namespace.activeMutant = undefined;
    const tests = [];
    for (const test of this.#harness.tests.filter(({ id }) => !TOO_LONG.test(id))) {
      this.namespace.currentTestId = test.id;
      const { ms, error } = await this.#run(test);
      this.#durations.set(test.id, ms);
      const base = { id: test.id, name: test.id, fileName: test.file, timeSpentMs: ms };
      tests.push(error === null ? { ...base, status: 0 } : { ...base, status: 1, failureMessage: error });
    }
    this.namespace.currentTestId = undefined;
    writeFileSync(DURATIONS, JSON.stringify([...this.#durations]));
    return { status: "complete", tests, mutantCoverage: this.namespace.mutantCoverage };
  }

  async mutantRun({ activeMutant, hitLimit, testFilter }) {
    const wanted = testFilter && new Set(testFilter);
    const tests = this.#harness.tests
      .filter(({ id }) => wanted?.has(id) ?? !TOO_LONG.test(id))
      .sort(byDuration(this.#durations));
    Object.assign(this.namespace, { hitCount: 0, hitLimit });
    let nrOfTests = 0;
    for (const test of tests) {
      nrOfTests += 1;
      this.namespace.activeMutant = activeMutant.id;
      const { error } = await this.#run(test);
      this.namespace.activeMutant = undefined;
      if (this.namespace.hitCount > hitLimit) return { status: "timeout", reason: "Hit limit reached" };
      if (error === null) continue;
      if ((await this.#run(test)).error !== null) process.exit(1);
      return { status: "killed", killedBy: [test.id], failureMessage: error, nrOfTests };
    }
    return { status: "survived", nrOfTests };
  }

  async #run(test) {
    const began = performance.now();
    let error = null;
    try {
      const took = this.#durations.get(test.id);
      await this.#harness.runTest(test, took === undefined ? TEST_LIMIT_MS : limitAfter(took));
    } catch (thrown) {
      error = String(thrown?.message ?? thrown);
    }
    return { ms: Math.round(performance.now() - began), error };
  }
}

function inProcessRunner() {
  return new InProcessRunner();
}
inProcessRunner.inject = [];

// A promise that a mutant leaves behind must not end the process.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, "in-process", inProcessRunner)];
