import { clip } from "../errors.js";
import { printable } from "./quantity.js";

/**
 * What a terminal may draw two columns wide: pictures among the symbols, the scripts of East Asia, and what is between
 * them. A character beyond these has two places in a text anyway.
 */
const WIDE = /[\u1100-\u115f\u231a-\ud7ff\uf900-\uffe6]/g;

/**
 * A line cut to fit a terminal: one that wraps could not be erased again. The last column stays free, for some terminals
 * wrap where it is taken. What may be drawn wide counts as wide, and what is drawn over its neighbour as a column of its
 * own, so that a line is cut early now and then, and is never too long. A control character is shown as a `?`: nobody
 * knows how wide a tab is drawn, and an escape sequence that is cut would leave the terminal waiting for the rest.
 *
 * @param columns - Width of the terminal. Where an output tells none, as `undefined` or 0, it counts as 80.
 *
 * @example
 * ```ts
 * import { fitLine } from "slipway/progress";
 *
 * fitLine("… Exporting image (local-big:1)", 20); // => "… Exporting image …"
 * ```
 *
 * @public
 */
export function fitLine(line: string, columns?: number): string {
  const plain = printable(line);
  // A place more in front of each, so that the cut never parts it from its second column.
  return clip(plain.replace(WIDE, "\0$&"), Math.max((columns || 80) - 1, 1)).replace(/\0/g, "");
}
