import { describe, expect, it } from "vitest";
import {
  A,
  B,
  base,
  C,
  type Change,
  emitted,
  KEEP_A,
  KEEP_THE_WORD,
  Late,
  reason,
  third,
  told,
} from "../../../test/conditions/told-changes.js";

describe("the words of a name that went or came", () => {
  it("are told by the difference of the name alone", () => {
    const reserved = { ...base, retired: { ...base.retired, Older: { retiredIn: 2 } } };
    expect(told(base, reserved)).toEqual(["safe reservation-added Older: Older is reserved."]);
    expect(told(reserved, base).filter((line) => line.includes(" source-"))).toEqual([]);
    const back = { ...base, reasons: { ...base.reasons, Old: reason }, retired: {} };
    expect(told(base, back).filter((line) => line.includes(" source-"))).toEqual([]);
  });

  it("say where a word went that is a name of its own now", () => {
    const own = { ...base, reasons: { A: reason, B, Late, dead: reason } };
    expect(told(base, own)).toContain(
      "breaking source-changed A: dead was reported as A and is now reported as dead: clients that match A miss it.",
    );
  });
});

const changes: readonly Change[] = [
  [
    "a new word",
    base,
    { ...base, reasons: { ...base.reasons, B: { ...B, sources: [{ backend: "docker", raw: ["exited"] }] } } },
    ["additive source-added B: exited is now reported as B."],
  ],
  [
    "a word gone",
    base,
    { ...base, reasons: { ...base.reasons, A: reason } },
    [
      "breaking source-changed A: dead was reported as A and is not mapped any more: clients that match A miss it.",
      ...KEEP_THE_WORD,
    ],
  ],
  [
    "a word of another reason now",
    base,
    { ...base, reasons: { ...base.reasons, A: reason, B: { ...B, sources: A.sources } } },
    [
      "breaking source-changed A: dead was reported as A and is now reported as B: clients that match A miss it.",
      ...KEEP_THE_WORD,
      "safe source-text B: The sources of B are described anew.",
    ],
  ],
  [
    "a word that the successor of a retired reason takes over",
    base,
    {
      ...third,
      reasons: { B, Late, C: { ...C, sources: A.sources } },
      retired: { ...base.retired, A: { retiredIn: 3, replacedBy: "C" } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["A"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired A: A is retired in contract 3; readers of older contracts still know it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "additive source-replaced A: dead is now reported as C, which replaces the retired A and is published as a case of it.",
      "additive emission-refined start/crash/Ready: start/crash/Ready publishes C; readers of older contracts see what they saw.",
    ],
  ],
  [
    "the versions that print a word",
    base,
    {
      ...base,
      reasons: {
        ...base.reasons,
        A: { ...A, sources: [{ backend: "docker", raw: ["dead"], versions: "1" }] },
      },
    },
    ["safe source-text A: The sources of A are described anew."],
  ],
  [
    "the versions that print a word, and another word",
    base,
    {
      ...base,
      reasons: {
        ...base.reasons,
        A: {
          ...A,
          sources: [
            { backend: "docker", raw: ["dead"], versions: "1" },
            { backend: "docker", raw: ["gone"] },
          ],
        },
      },
    },
    [
      "additive source-added A: gone is now reported as A.",
      "safe source-text A: The sources of A are described anew.",
    ],
  ],
  [
    "a word of another backend",
    base,
    {
      ...base,
      reasons: {
        ...base.reasons,
        A: { ...A, sources: [...A.sources, { backend: "podman", raw: ["gone"] }] },
      },
    },
    ["additive source-added A: gone is now reported as A."],
  ],
  [
    "a second word",
    base,
    {
      ...base,
      reasons: { ...base.reasons, A: { ...A, sources: [{ backend: "docker", raw: ["dead", "gone"] }] } },
    },
    ["additive source-added A: gone is now reported as A."],
  ],
  [
    "a word that a successor takes over which is published as a case of something else",
    base,
    {
      ...third,
      reasons: { B, Late, C: { ...C, sources: A.sources } },
      retired: { ...base.retired, A: { retiredIn: 3, replacedBy: "C" } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["B"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired A: A is retired in contract 3; readers of older contracts still know it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "breaking source-changed A: dead was reported as A and is now reported as C: clients that match A miss it.",
      ...KEEP_THE_WORD,
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows B where it showed A; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "A" for this finding will miss it (contract 1, 2)',
      ...KEEP_A,
    ],
  ],
  [
    "a word that somebody else than the successor takes over",
    base,
    {
      ...third,
      reasons: { B: { ...B, sources: A.sources }, Late, C },
      retired: { ...base.retired, A: { retiredIn: 3, replacedBy: "C" } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["A"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired A: A is retired in contract 3; readers of older contracts still know it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "breaking source-changed A: dead was reported as A and is now reported as B: clients that match A miss it.",
      ...KEEP_THE_WORD,
      "safe source-text B: The sources of B are described anew.",
      "additive emission-refined start/crash/Ready: start/crash/Ready publishes C; readers of older contracts see what they saw.",
    ],
  ],
];

describe("what is said of a change", () => {
  it.each(changes.map(([change, before, after, lines]) => ({ change, before, after, lines })))(
    "$change",
    ({ before, after, lines }) => {
      expect(told(before, after)).toEqual(lines);
    },
  );
});

describe("what is said of words", () => {
  const said = (before: object, after: object): readonly string[] =>
    told(before, after).filter((line) => / (source|retired|reservation)-/.test(line));
  const dead = (backend: string) => ({ ...reason, sources: [{ backend, raw: ["dead"] }] });

  it("names the backend where only its own word means something else", () => {
    const reasons = { A: dead("abacus"), B: dead("docker"), Late };
    const moved = { A: dead("abacus"), B: reason, Late: { ...Late, ...dead("docker"), since: 2 } };
    expect(said({ ...base, reasons }, { ...base, reasons: moved })).toEqual([
      "breaking source-changed B: docker dead was reported as B and is now reported as Late: clients that match B miss it.",
      "safe source-text Late: The sources of Late are described anew.",
    ]);
  });

  it("is said also of spellings that nobody states, which the first backend in the alphabet decides", () => {
    const as = (backend: string) => ({
      ...base,
      reasons: { A: dead("docker"), B: { ...reason, sources: [{ backend, raw: ["Dead"] }] }, Late },
    });
    expect(said(as("podman"), as("abacus"))).toContain(
      "breaking source-changed A: DEad was reported as A and is now reported as B: clients that match A miss it.",
    );
  });

  it("follows what replaces a retired name, where that is gained or lost", () => {
    const replaced = (by: string) => ({ ...base, retired: { Old: { retiredIn: 2, replacedBy: by } } });
    expect(said({ ...base, retired: {} }, replaced("A"))).toEqual([
      "safe reservation-added Old: Old is reserved.",
      "additive source-added A: Old is now reported as A.",
    ]);
    expect(said(replaced("A"), { ...base, retired: {} })).toEqual([
      "breaking reservation-removed Old: Old is no longer reserved: clients that still match it may meet it with another meaning.",
      "breaking source-changed A: Old was reported as A and is not mapped any more: clients that match A miss it.",
    ]);
    expect(said(replaced("A"), replaced("B"))).toEqual([
      "safe retired-text Old: What replaces the retired Old was reworded.",
    ]);
  });

  describe("of a retired reason", () => {
    const published = (name: string, cause: string, ...generalReasons: readonly string[]) => ({
      ...emitted,
      cause,
      reason: name,
      generalReasons,
    });
    const successor = (by: string, retiredIn: number, ...emits: readonly object[]) => ({
      ...third,
      reasons: { B, Late, C: { ...C, ...dead("docker"), since: 3 }, D: C },
      retired: { ...base.retired, A: { retiredIn, replacedBy: by } },
      emits,
    });
    const words = (after: object): readonly string[] =>
      said(base, after).filter((line) => line.includes(" source-"));
    const taken = [
      "additive source-replaced A: dead is now reported as C, which replaces the retired A and is published as a case of it.",
    ];
    const lost = [
      "breaking source-changed A: dead was reported as A and is now reported as C: clients that match A miss it.",
    ];

    it.each<[string, object, readonly string[]]>([
      [
        "one publication of several is a case of it",
        successor("C", 3, published("C", "crash", "A"), published("C", "other")),
        taken,
      ],
      ["none is", successor("C", 3, published("C", "crash"), published("D", "other", "A")), lost],
      ["somebody else replaces it", successor("D", 3, published("C", "crash", "A")), lost],
      ["it was retired at once", successor("C", 2, published("C", "crash", "A")), lost],
    ])("are taken over by its successor, or lost: %s", (_, after, lines) => {
      expect(words(after)).toEqual(lines);
    });
  });
});
