export type Palette = Readonly<Record<string, string>>;

/** The colours of a style sheet that sets them on `:root`, and others where dark is preferred. */
export function parsePalettes(css: string): { readonly light: Palette; readonly dark: Palette } {
  const [plain = "", preferred = ""] = css.split("@media (prefers-color-scheme: dark)");
  const light = coloursOf(plain);
  return { light, dark: { ...light, ...coloursOf(preferred) } };
}

function coloursOf(css: string): Palette {
  const set = [...css.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)];
  return Object.fromEntries(set.map(([, name = "", value = ""]) => [name, value] as const));
}

/** The contrast ratio of two colours of a palette, 1 to 21 (WCAG 2.2). */
export function contrast(palette: Palette, front: string, back: string): number {
  const [lighter = 0, darker = 0] = [front, back]
    .map((name) => luminance(palette, name))
    .sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(palette: Palette, name: string): number {
  const hex = palette[name];
  if (hex === undefined) throw new Error(`the palette has no ${name}`);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
