const CELL = { width: 7.8, height: 19 };
const PAD = 16;
/** How long the last screen stays before it all begins again, seconds. */
const REST_S = 6;

/**
 * A recording as a picture that plays it, over and over. What cannot play it shows the last screen.
 *
 * @param {readonly { at: number, rows: string[] }[]} screens
 * @param {{ prompt: string, lastsS: number }} options
 */
export function svgOf(screens, { prompt, lastsS }) {
  const end = screens.at(-1)?.at ?? 0;
  const speed = end === 0 ? 1 : lastsS / end;
  const columns = Math.max(
    ...screens.flatMap(({ rows }) => rows.map((row) => row.length)),
    prompt.length + 2,
  );
  const height = Math.max(...screens.map(({ rows }) => rows.length)) + 1;
  const [width, tall] = [Math.ceil(columns * CELL.width + 2 * PAD), height * CELL.height + 2 * PAD];
  const spans = spansOf(screens).map((span) => ({
    ...span,
    from: span.from * speed,
    to: span.to === null ? null : span.to * speed,
  }));
  const lines = [`<text x="${PAD}" y="${rowAt(0)}" fill="#9aa4b2">${escaped(`$ ${prompt}`)}</text>`];
  for (const { row, text, from, to } of spans) lines.push(lineOf(row + 1, text, from, to));
  const again = (lastsS + REST_S).toFixed(2);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}" role="img">`,
    `<title>${escaped(`A recorded run of ${prompt}`)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="#14181f">`,
    `<animate id="again" attributeName="opacity" from="1" to="1" begin="0s;again.end" dur="${again}s"/></rect>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="13" fill="#e6e9ee">`,
    ...lines,
    "</g></svg>",
    "",
  ].join("\n");
}

/** What stands in a row from when until when; `null` for what is still there at the end. */
function spansOf(screens) {
  const open = new Map();
  const spans = [];
  for (const { at, rows } of screens) {
    for (const row of new Set([...open.keys(), ...rows.keys()])) {
      const span = open.get(row);
      if (span?.text === rows[row]) continue;
      if (span !== undefined) span.to = at;
      open.delete(row);
      if (rows[row] === undefined || rows[row] === "") continue;
      const next = { row, text: rows[row], from: at, to: null };
      open.set(row, next);
      spans.push(next);
    }
  }
  return spans;
}

function lineOf(row, text, from, to) {
  const begin = `again.begin+${from.toFixed(2)}s`;
  const until = to === null ? "" : `again.begin+${to.toFixed(2)}s`;
  const set =
    to === null
      ? `<set attributeName="visibility" to="hidden" begin="again.begin" end="${begin}"/>`
      : `<set attributeName="visibility" to="visible" begin="${begin}" end="${until}"/>`;
  const color = text.trimStart().startsWith("✓") ? ' fill="#7ee2a8"' : "";
  const hidden = to === null ? "" : ' visibility="hidden"';
  return `<text x="${PAD}" y="${rowAt(row)}"${color}${hidden}>${escaped(text)}${set}</text>`;
}

function rowAt(row) {
  return PAD + (row + 0.75) * CELL.height;
}

/** Spaces at the beginning of a text are no part of a picture, except those that do not break. */
function escaped(text) {
  const indented = text.replace(/^ +/, (spaces) => "\u00a0".repeat(spaces.length));
  return indented.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
