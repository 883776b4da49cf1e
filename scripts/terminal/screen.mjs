/**
 * What a terminal shows of a recording, moment by moment. It knows what the example gateways' command lines write: lines,
 * carriage returns, and the erasing of a line. Colours are left out.
 *
 * @param {readonly { readonly at: number, readonly text: string }[]} events what was written, and when
 * @returns {{ at: number, rows: string[] }[]} each screen that differs from the one before
 */
export function screensOf(events) {
  const rows = [""];
  let column = 0;
  const screens = [];
  for (const { at, text } of events) {
    for (const part of text.match(/\u001b\[[0-9;]*[A-Za-z]|[\r\n]|[^\u001b\r\n]+/g) ?? []) {
      const row = rows.at(-1) ?? "";
      if (part === "\n") rows.push("");
      else if (part === "\r") column = 0;
      else if (part === "\u001b[2K") rows[rows.length - 1] = "";
      else if (!part.startsWith("\u001b")) {
        rows[rows.length - 1] = row.slice(0, column).padEnd(column) + part + row.slice(column + part.length);
        column += part.length;
      }
      if (part === "\n") column = 0;
    }
    const shown = rows.at(-1) === "" ? rows.slice(0, -1) : rows.slice();
    if (shown.join("\n") !== (screens.at(-1)?.rows ?? []).join("\n")) screens.push({ at, rows: shown });
  }
  return settled(screens);
}

/** A line that is erased and drawn anew within one redraw was never to be seen without. */
function settled(screens) {
  const shortest = 0.05;
  return screens.filter(({ at }, index) => {
    const next = screens[index + 1];
    return next === undefined || next.at - at >= shortest;
  });
}

/**
 * Some of the screens, spread over the whole: the first, the last, and those closest to equal distances.
 *
 * @param {readonly { at: number, rows: string[] }[]} screens
 * @param {number} count
 */
export function momentsOf(screens, count) {
  const end = screens.at(-1)?.at ?? 0;
  const wanted = Array.from({ length: count }, (_, index) => (end * index) / (count - 1));
  const chosen = wanted.map((at) => screens.findLast((screen) => screen.at <= at) ?? screens[0]);
  return chosen.filter((screen, index) => screen !== undefined && chosen.indexOf(screen) === index);
}
