/** The first of a text, of so many UTF-16 units at most and without half a character. */
export function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  return head.length < text.length ? head.replace(/[\ud800-\udbff]$/, "") : head;
}

/** The last of a text, of so many UTF-16 units at most and without half a character. */
export function tailOf(text: string, length: number): string {
  const tail = text.slice(Math.max(text.length - length, 0));
  return tail.length < text.length ? tail.replace(/^[\udc00-\udfff]/, "") : tail;
}
