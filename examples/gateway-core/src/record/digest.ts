import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "./json.js";

/** Names content: equal content has an equal digest, so a write that changes nothing can be told from a real one. */
export function digestOf(value: Json): string {
  return `sha256:${createHash("sha256").update(canonicalJson(value)).digest("hex")}`;
}
