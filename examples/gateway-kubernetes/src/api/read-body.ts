/** A body as text. */
export async function textOf(body: AsyncIterable<Uint8Array | string>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body)
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/**
 * The lines of a body as they come, whatever the pieces are that it comes in. A last line without an end is half a
 * line of a stream that broke, and is dropped.
 */
export async function* linesOf(body: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for await (const chunk of body) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      parts.push(text.slice(from, end));
      const line = parts.join("");
      parts = [];
      from = end + 1;
      if (line.trim() !== "") yield line;
    }
    if (from < text.length) parts.push(text.slice(from));
  }
}
