/** Headers of one connection, which end at whoever passes a message on. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/** Without these a body would be read as the next message: no `Connection` header takes them away. */
const FRAMING = new Set(["content-length", "transfer-encoding"]);

/** What of a message's raw headers (names and values in turn) is for its receiver, however many are in between. */
export function endToEnd(rawHeaders: readonly string[]): string[] {
  const dropped = new Set(HOP_BY_HOP);
  for (const [name, value] of pairsOf(rawHeaders)) {
    if (name.toLowerCase() !== "connection") continue;
    for (const named of value.split(",")) {
      const option = named.trim().toLowerCase();
      if (!FRAMING.has(option)) dropped.add(option);
    }
  }
  return pairsOf(rawHeaders)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

/** The same for a target that is called by this name, whatever the sender called it: the name is what was checked. */
export function endToEndFor(host: string, rawHeaders: readonly string[]): string[] {
  const named = pairsOf(endToEnd(rawHeaders)).filter(([name]) => name.toLowerCase() !== "host");
  return ["Host", host, ...named.flat()];
}

export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  return pairs;
}
