import type { ConformanceCase } from "../../src/testing/index.js";

/** The cases that a subject fails; one that hangs on a watch fails as well. */
export async function failed<S>(cases: readonly ConformanceCase<S>[], open: () => S): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) {
    let timer: NodeJS.Timeout | undefined;
    const hangs = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("it hangs")), 1000);
    });
    await Promise.race([run(open), hangs])
      .catch(() => names.push(name))
      .finally(() => clearTimeout(timer));
  }
  return names;
}
