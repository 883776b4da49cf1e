/** Where the workload may connect to; `null` for everywhere. */
export type AllowList = readonly string[] | null;

/**
 * Whether a policy allows a connection. An entry is `host:port`; a `*` in the host stands for any run of characters, so
 * `*.example.com:443` allows every name below example.com and not the name itself. Letter case and the dot at the end
 * of a full name do not count. The name decides, not the address that it resolves to.
 */
export function isAllowed(list: AllowList, host: string, port: number): boolean {
  if (list === null) return true;
  const name = canonical(host);
  return list.some((entry) => {
    const colon = entry.lastIndexOf(":");
    return Number(entry.slice(colon + 1)) === port && matches(canonical(entry.slice(0, colon)), name);
  });
}

function canonical(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}

/** At most the product of both lengths, whatever the number of stars: the policy is input like any other. */
function matches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === "*") {
      star = at;
      at += 1;
      resume = index;
    } else if (at < pattern.length && pattern[at] === text[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
