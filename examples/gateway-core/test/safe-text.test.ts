import { describe, expect, it } from "vitest";
import { shownJson, summary } from "../src/cli/context.js";
import { safeText } from "../src/terminal/safe-text.js";

/** What a terminal takes for a command, and every mark that says which way text runs. */
const COMMANDS = /(?!\n)\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/u;
const ALL = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code));

describe("a text of somebody else on a terminal", () => {
  it("has nothing that commands it or turns text around, and everything else", () => {
    const [bad, good] = [
      ALL.filter((each) => COMMANDS.test(each)),
      ALL.filter((each) => !COMMANDS.test(each)),
    ];
    expect(bad.filter((each) => safeText(each) !== (each === "\t" ? " " : "?"))).toEqual([]);
    expect(good.filter((each) => safeText(each) !== each)).toEqual([]);
  });

  it.each(["\u061c", "\u200e", "\u200f", "\u202e", "\u2066"])("shows the mark %j as a question", (mark) => {
    expect(safeText(`txt${mark}exe`)).toBe("txt?exe");
  });

  it("is the same as a line of a list, and in a view that is shown as JSON", () => {
    const said = { reason: "Odd\u009b1m\u202e", message: "lost\u009b2J\u202e\n\u200f" };
    const view = { name: "box", phase: "Error", id: "sb-1", deadline: null, ...said };
    expect(summary(view as never)).not.toMatch(COMMANDS);
    expect(shownJson(view)).not.toMatch(COMMANDS);
    expect(JSON.parse(shownJson(view))).toMatchObject({ message: "lost?2J?\n?" });
  });
});
