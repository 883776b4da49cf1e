import fc from "fast-check";

type Path = readonly (string | number)[];

/** One change of a JSON value. `at` and `from` count its nodes and wrap around. */
type Mutation =
  | {
      readonly do: "replace" | "insert" | "rename";
      readonly at: number;
      readonly value: unknown;
      readonly key: string;
    }
  | { readonly do: "remove" | "repeat"; readonly at: number }
  | { readonly do: "move"; readonly at: number; readonly from: number };

const LONG = "x".repeat(5000);
/** Keys that mean something to JavaScript, or to none of our readers. */
const KEYS = ["__proto__", "constructor", "toString", "length", "", "x-unknown", "status", "0", LONG];

/** As `JSON.parse` makes them, so that `__proto__` is a key as any other. */
const parsed = [
  '{"__proto__":{"running":true}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":null},"toString":1,"length":-1}',
  '["a",null,{},[[]]]',
  // Deep enough for a reader that walks down, and not for the tools that compare and print here.
  `${"[".repeat(500)}${"]".repeat(500)}`,
  `${'{"a":'.repeat(500)}1${"}".repeat(500)}`,
].map((text) => JSON.parse(text) as unknown);

/** Values that sit on an edge of what a reader may expect. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(null, true, false, "", {}, [], ...parsed) },
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      ...[
        0,
        1,
        -1,
        1.5,
        2 ** 31,
        2 ** 53,
        -(2 ** 53),
        8.64e15,
        8.64e15 + 1,
        -8.64e15 - 1,
        1e300,
        -1e300,
        5e-324,
      ],
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      ...["\0", "\ud800", "🛶", LONG, "null", "true", "-1", "1e3", "NaN", " Running ", "RUNNING", "unknown"],
      ...[
        "0001-01-01T00:00:00Z",
        "9999-99-99T99:99:99Z",
        "2026-02-30T24:00:60+99:99",
        "1969-12-31T23:59:59Z",
      ],
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const place = fc.nat({ max: 100_000 });
const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 12 }));

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("replace" as const, "replace" as const, "insert" as const, "rename" as const),
      at: place,
      value: hostile,
      key,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("remove" as const, "repeat" as const), at: place }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("move" as const), at: place, from: place }) },
);

/** Real values with a few things wrong; now and then a value that is nothing like them. */
export function mutated(bases: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    {
      weight: 20,
      arbitrary: fc
        .tuple(fc.constantFrom(...bases), fc.array(mutation, { maxLength: 6 }))
        .map(([base, mutations]) => mutations.reduce<unknown>(applied, base)),
    },
    { weight: 1, arbitrary: hostile },
  );
}

/** A copy with one change made. Paths are taken breadth first and no deeper than anything real goes. */
function applied(value: unknown, change: Mutation): unknown {
  const paths = pathsOf(value);
  const path = paths[change.at % paths.length] ?? [];
  switch (change.do) {
    case "replace":
      return edited(value, path, () => change.value);
    case "insert":
      return edited(value, path, (found) => inserted(found, change.key, change.value));
    case "rename":
      return edited(value, path, (found) => renamed(found, change.key));
    case "remove":
      return path.length === 0
        ? null
        : edited(value, path.slice(0, -1), (found) => without(found, path.at(-1)));
    case "repeat":
      return edited(value, path, (found) =>
        Array.isArray(found) ? [...(found as unknown[]), ...(found as unknown[])] : [found, found],
      );
    case "move": {
      const from = paths[change.from % paths.length] ?? [];
      return edited(value, path, () => valueAt(value, from));
    }
  }
}

const MAX_PATHS = 3000;
const MAX_DEPTH = 20;

function pathsOf(value: unknown): Path[] {
  const paths: Path[] = [[]];
  for (let index = 0; index < paths.length && paths.length < MAX_PATHS; index += 1) {
    const path = paths[index] ?? [];
    const found = valueAt(value, path);
    if (typeof found !== "object" || found === null || path.length >= MAX_DEPTH) continue;
    const keys = Array.isArray(found) ? found.keys() : Object.keys(found);
    for (const each of keys) paths.push([...path, each]);
  }
  return paths;
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path)
    found = Object.entries(found as object).find(([name]) => name === String(step))?.[1];
  return found;
}

function edited(value: unknown, [step, ...rest]: Path, edit: (found: unknown) => unknown): unknown {
  if (step === undefined) return edit(value);
  if (Array.isArray(value)) {
    return (value as unknown[]).map((item, index) => (index === step ? edited(item, rest, edit) : item));
  }
  const entries = Object.entries(value as object) as [string, unknown][];
  return objectOf(entries.map(([name, found]) => [name, name === step ? edited(found, rest, edit) : found]));
}

function inserted(found: unknown, name: string, value: unknown): unknown {
  if (Array.isArray(found)) return [value, ...(found as unknown[])];
  if (typeof found !== "object" || found === null) return value;
  return objectOf([...(Object.entries(found) as [string, unknown][]), [name, value]]);
}

function renamed(found: unknown, name: string): unknown {
  if (typeof found !== "object" || found === null || Array.isArray(found)) return found;
  const [first, ...others] = Object.entries(found) as [string, unknown][];
  return first === undefined ? found : objectOf([[name, first[1]], ...others]);
}

function without(found: unknown, step: string | number | undefined): unknown {
  if (Array.isArray(found)) return (found as unknown[]).filter((_, index) => index !== step);
  return objectOf((Object.entries(found as object) as [string, unknown][]).filter(([name]) => name !== step));
}

/** Whatever the keys are called: an object literal would take `__proto__` for something else. */
function objectOf(entries: readonly (readonly [string, unknown])[]): unknown {
  return Object.fromEntries(entries);
}

/** The value with one unknown field more in each of its objects. */
export function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownFields);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, found]) => [name, withUnknownFields(found)] as const);
  return objectOf([...entries, ["x-of-a-newer-release", { text: "kept or passed over" }]]);
}
