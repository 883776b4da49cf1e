import type { Reporter, TestModule, TestSuite, Vitest } from "vitest/node";

/**
 * Says at the end what was skipped and why. The reason stands in the title of the tests, and a run that prints a file
 * that was skipped whole leaves their titles out.
 */
export class SkipReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Whoever picked tests by their names knows that the others were not run.
    if (this.#vitest?.config.testNamePattern !== undefined) return;
    const titles = modules.flatMap((module) =>
      skippedIn(module).map((title) => `${module.relativeModuleId}: ${title}`),
    );
    if (titles.length > 0) console.log(["skipped:", ...titles, ""].join("\n  "));
  }
}

/** The outermost skipped suites and tests: what is within a skipped suite is skipped with it. */
function skippedIn(parent: TestModule | TestSuite): readonly string[] {
  return [...parent.children].flatMap((child) => {
    const skipped = child.type === "test" ? child.result().state === "skipped" : child.state() === "skipped";
    if (skipped) return [child.fullName];
    return child.type === "suite" ? skippedIn(child) : [];
  });
}
