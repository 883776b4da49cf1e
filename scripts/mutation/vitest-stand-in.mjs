/**
 * What the unit tests use of Vitest, for the runner of mutation tests: tests are collected once, and then run by id as
 * often as there are mutants. The assertions and the spies are Vitest's own.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  customMatchers,
  setState,
} from "@vitest/expect";
import { fn, restoreAllMocks, spyOn } from "@vitest/spy";
import * as chai from "chai";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = Object.assign(
  (value, message) => chai.expect(value, message),
  chai.expect,
  globalThis[ASYMMETRIC_MATCHERS_OBJECT],
  {
    fail: chai.assert.fail,
    unreachable: (message) => chai.assert.fail(message ?? "unreachable"),
  },
);
chai.expect.extend(expect, customMatchers);
setState({ assertionCalls: 0, isExpectingAssertions: false }, expect);
export const vi = { fn, spyOn, restoreAllMocks };

const hookNames = ["beforeAll", "afterAll", "beforeEach", "afterEach"];

function newSuite(name, parent) {
  return { name, parent, begun: false, ...Object.fromEntries(hookNames.map((hook) => [hook, []])) };
}

let suite = newSuite("", null);

/** Every test, in the order of collection: `{ id, file, suite, run }`. */
export const tests = [];

/** Collects what the import of one test file defines. */
export async function collect(file, load) {
  suite = newSuite(file, null);
  await load();
}

function defineTest(name, body) {
  if (typeof body !== "function") return;
  const path = [name];
  for (let at = suite; at !== null; at = at.parent) path.unshift(at.name);
  tests.push({ id: `${tests.length} ${path.join(" > ")}`, file: path[0], suite, run: body });
}

function defineSuite(name, body) {
  const outer = suite;
  suite = newSuite(String(name), outer);
  body();
  suite = outer;
}

/** A test's options and its time limit may stand on either side of its body. */
const bodyOf = (args) => args.find((each) => typeof each === "function");

/** A case that is a list is the arguments only where every case is one. */
function each(define) {
  return (cases) =>
    (name, ...rest) => {
      const areArguments = cases.every(Array.isArray);
      const body = bodyOf(rest);
      cases.forEach((values, index) =>
        define(`${name} [${index}]`, () => body(...(areArguments ? values : [values]))),
      );
    };
}

function variants(define) {
  const plain = (name, ...rest) => define(name, bodyOf(rest));
  return Object.assign(plain, {
    each: each(define),
    skipIf: (skipped) => (skipped ? () => {} : plain),
    runIf: (wanted) => (wanted ? plain : () => {}),
    skip: () => {},
  });
}

export const it = variants(defineTest);
export const test = it;
export const describe = variants(defineSuite);
const hook = (kind) => (body) => void suite[kind].push(body);
export const [beforeAll, afterAll, beforeEach, afterEach] = hookNames.map(hook);

function chain(from) {
  const suites = [];
  for (let at = from; at !== null; at = at.parent) suites.unshift(at);
  return suites;
}

/** Runs one test with its hooks. Rejects when it fails or takes longer than `limitMs`. */
export async function runTest({ suite: own, run }, limitMs) {
  const suites = chain(own);
  for (const each of suites) {
    if (each.begun) continue;
    each.begun = true;
    for (const before of each.beforeAll) await before();
  }
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The test took too long")), limitMs);
  });
  const whole = async () => {
    for (const each of suites) for (const before of each.beforeEach) await before();
    await run({});
  };
  try {
    await Promise.race([whole(), late]);
  } finally {
    clearTimeout(timer);
    for (const each of suites.reverse()) for (const after of each.afterEach) await after();
  }
}
