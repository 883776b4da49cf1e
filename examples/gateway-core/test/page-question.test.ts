import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Announcer } from "../src/page/announcer.js";
import type { SandboxView } from "../src/http/view.js";
import { Question } from "../src/page/question.js";
import { viewAt } from "./page-views.js";
import { NOW, recordWith } from "./records.js";

/** A dialog as a browser has it: closed at once, and told of with the next frame. */
class FakeDialog {
  open = false;
  returnValue = "";
  #told = 0;
  #listener: () => void = () => undefined;

  showModal(): void {
    this.open = true;
  }

  close(returnValue?: string): void {
    if (!this.open) return;
    this.open = false;
    if (returnValue !== undefined) this.returnValue = returnValue;
    this.#told += 1;
  }

  addEventListener(_type: "close", listener: () => void): void {
    this.#listener = listener;
  }

  frame(): void {
    for (; this.#told > 0; this.#told -= 1) this.#listener();
  }
}

type Act = "ask" | "keep" | "delete" | "escape" | "withdraw" | "frame";

describe("a question in a modal dialog", () => {
  it("gets the answer that was given to it, and no other, in every order of answers, frames and new questions", async () => {
    const acts = fc.array(fc.constantFrom<Act>("ask", "keep", "delete", "escape", "withdraw", "frame"), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(acts, async (list) => {
        const dialog = new FakeDialog();
        const question = new Question(dialog);
        const given: string[] = [];
        const got: Promise<string>[] = [];
        for (const act of list) {
          if (act === "frame") dialog.frame();
          else if (act === "ask" && !dialog.open) got.push(question.ask());
          else if (dialog.open && act !== "ask") {
            given.push(act === "keep" || act === "delete" ? act : "");
            if (act === "withdraw") question.withdraw();
            // Escape leaves the value as it is.
            else dialog.close(act === "escape" ? undefined : act);
          }
        }
        if (dialog.open) {
          dialog.close("keep");
          given.push("keep");
        }
        dialog.frame();
        expect(await Promise.all(got)).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });

  it("that was put again before the browser told of the last close is still open", async () => {
    const dialog = new FakeDialog();
    const question = new Question(dialog);
    const first = question.ask();
    dialog.close();
    const second = question.ask();
    dialog.frame();
    dialog.close("delete");
    dialog.frame();
    expect([await first, await second]).toEqual(["", "delete"]);
  });
});

describe("the announcer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const phase = (id: string, name: SandboxView["phase"]): SandboxView => ({
    ...viewAt(recordWith({ id, name: id }), NOW),
    phase: name,
  });
  const started = (): { announcer: Announcer; said: () => string | null } => {
    const region = { textContent: "" };
    return { announcer: new Announcer(region as HTMLElement), said: () => region.textContent };
  };

  it("tells each change of its own", () => {
    const { announcer, said } = started();
    announcer.note("box", undefined, phase("box", "Provisioning"));
    expect(said()).toBe("");
    vi.runAllTimers();
    expect(said()).toBe("box is new: Provisioning.");
    announcer.note("box", phase("box", "Provisioning"), phase("box", "Ready"));
    vi.runAllTimers();
    expect(said()).toBe("box is Ready.");
  });

  it("tells what came together as one change, from what was last told to what is so now", () => {
    const { announcer, said } = started();
    announcer.note("box", undefined, phase("box", "Provisioning"));
    announcer.note("box", phase("box", "Provisioning"), phase("box", "Ready"));
    vi.runAllTimers();
    expect(said()).toBe("box is new: Ready.");
  });

  it("says nothing of what was over before it could be told", () => {
    const { announcer, said } = started();
    announcer.note("box", undefined, phase("box", "Provisioning"));
    announcer.note("box", phase("box", "Provisioning"), undefined);
    vi.runAllTimers();
    expect(said()).toBe("");
  });
});
