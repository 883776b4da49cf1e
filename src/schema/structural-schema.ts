/**
 * A JSON Schema as plain JSON.
 *
 * @public
 */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords that a structural schema does not have, or that the server adds by itself. */
const DROPPED = ["$schema", "$id", "id", "title", "additionalProperties", "propertyNames"];
/** What JavaScript can count to; a 64-bit integer of Kubernetes says it by its format. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/**
 * A generated JSON Schema in the form that Kubernetes demands of a custom resource: every node typed, no references,
 * no schema for additional properties beside named ones. Open objects keep unknown fields.
 *
 * @internal
 */
export function structuralSchema(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema["anyOf"])) return structuralUnion(schema["anyOf"] as JsonSchema[]);
  if ("const" in schema) {
    const { const: only, ...rest } = schema;
    return structuralSchema({ ...rest, enum: [only] });
  }
  const dated = schema["format"] === "date-time";
  const kept = Object.entries(schema).filter(
    ([keyword, value]) =>
      !DROPPED.includes(keyword) &&
      !(keyword === "maximum" && value === UNBOUNDED) &&
      // The server knows the format; the generated pattern says the same at length.
      !(keyword === "pattern" && dated),
  );
  const converted = kept.map(([keyword, value]) => [keyword, convert(keyword, value)] as const);
  const open = "properties" in schema && schema["additionalProperties"] !== false;
  return {
    ...Object.fromEntries(converted),
    ...(schema["type"] === "integer" && { format: "int64" }),
    ...(open && { "x-kubernetes-preserve-unknown-fields": true }),
  };
}

/** A value that may be null has a word for it; a choice between types has none, and is left open. */
function structuralUnion(alternatives: readonly JsonSchema[]): JsonSchema {
  const others = alternatives.filter((alternative) => alternative["type"] !== "null");
  const nullable = others.length < alternatives.length && { nullable: true };
  const [only] = others;
  const one = only !== undefined && others.length === 1;
  return {
    ...(one ? structuralSchema(only) : { "x-kubernetes-preserve-unknown-fields": true }),
    ...nullable,
  };
}

function convert(keyword: string, value: unknown): unknown {
  if (keyword === "properties") {
    return Object.fromEntries(
      Object.entries(value as JsonSchema).map(([name, part]) => [name, structuralSchema(part as JsonSchema)]),
    );
  }
  return keyword === "items" ? structuralSchema(value as JsonSchema) : value;
}
