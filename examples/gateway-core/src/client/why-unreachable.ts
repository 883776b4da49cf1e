/** Certificates that whoever asks would take once he trusts who signed them. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const TRUST_HINT = ": where you trust it, name the file of its authority in NODE_EXTRA_CA_CERTS";

/** Why `fetch` had no answer, as the rest of a sentence: its own words never say, what it failed with does. */
export function whyUnreachable(error: unknown): string {
  const failure = (error as { cause?: unknown } | null)?.cause ?? error;
  const code = textOf(failure, "code");
  // What OpenSSL says at length it says in a few words as well.
  const said = textOf(failure, "reason") || textOf(failure, "message");
  const words = said.includes(code) ? said : [code, said].filter((text) => text !== "").join(": ");
  const why = words === "" ? "" : ` (${words})`;
  return UNTRUSTED.has(code) ? `${why}${TRUST_HINT}` : why;
}

function textOf(failure: unknown, field: "code" | "reason" | "message"): string {
  const value = (failure as Partial<Record<string, unknown>> | null)?.[field];
  return typeof value === "string" ? value.trim() : "";
}
