/** Line ends aside: control characters, ends of lines and paragraphs, and every mark that says which way text runs. */
const COMMANDS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

/**
 * Text of somebody else as it may be written to a terminal: a message can come from inside a sandbox, and whatever a
 * terminal takes for a command, or that turns text around, is shown as `?`. Lines stay lines.
 */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\t", " ").replace(COMMANDS, "?");
}
