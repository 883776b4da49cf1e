/** A tar ends with two blocks of zeros, however much padding follows. */
const END_BYTES = 1024;

/**
 * Watches the end of a tar stream go by. A stream that was cut between two entries looks complete to everybody who
 * only reads entries, and what was packed from it would pass for the whole image.
 */
export class TarEnd {
  #zeros = 0;

  see(chunk: Uint8Array): void {
    let index = chunk.length;
    const from = Math.max(0, index - END_BYTES);
    while (index > from && chunk[index - 1] === 0) index -= 1;
    const zeros = chunk.length - index;
    this.#zeros = zeros === chunk.length ? Math.min(END_BYTES, this.#zeros + zeros) : zeros;
  }

  /** Whether what was seen so far ends as a tar does. */
  get complete(): boolean {
    return this.#zeros >= END_BYTES;
  }
}
