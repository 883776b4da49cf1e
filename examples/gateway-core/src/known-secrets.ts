import type { ServeOptions } from "./serve-options.js";

/** What must not get into the log, should an error quote it. */
export function knownSecrets({
  ownerToken,
  metricsToken,
  tls,
  databaseUrl,
}: ServeOptions): readonly string[] {
  const password =
    databaseUrl !== undefined && URL.canParse(databaseUrl) ? new URL(databaseUrl).password : "";
  const secrets = [ownerToken, metricsToken, tls?.key, password, decoded(password)];
  return secrets.filter((secret): secret is string => secret !== undefined && secret !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
