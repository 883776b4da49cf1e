/** Prints what was observed. A check that does not hold is printed as such, and makes the demo fail. */
export class Report {
  readonly #write: (line: string) => void;
  #failed = 0;
  #held = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  get held(): number {
    return this.#held;
  }

  get failed(): number {
    return this.#failed;
  }

  heading(text: string): void {
    this.#write(`\n${text}`);
  }

  note(text: string): void {
    this.#write(`    ${text}`);
  }

  check(holds: boolean, text: string): void {
    if (holds) this.#held += 1;
    else this.#failed += 1;
    this.#write(`  ${holds ? "✓" : "✗"} ${text}`);
  }
}
