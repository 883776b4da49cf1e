import { at, copy, textOf, type Json, type KubeObject } from "./object.js";
import { apiVersion, resource, type Column, type Resource } from "./resource.js";
import { check, fill, prune, type Schema } from "./schema.js";
import type { Cause } from "./status.js";

/** Turns an object of one version into another one's; gets and gives copies. */
export type Converter = (object: KubeObject, toVersion: string) => KubeObject;

interface Served {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object };
  readonly additionalPrinterColumns?: readonly Column[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

interface Definition {
  readonly group: string;
  readonly scope: string;
  readonly names: {
    readonly plural: string;
    readonly kind: string;
    readonly singular?: string;
    readonly shortNames?: readonly string[];
  };
  readonly versions: readonly Served[];
}

const AGE: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** What is wrong with a CustomResourceDefinition, of the things that the server leans on. */
export function validateDefinition(next: KubeObject): Cause[] {
  const causes: Cause[] = [];
  const need = (field: string): void => {
    if (at(next, field) !== undefined) return;
    causes.push({ reason: "FieldValueRequired", field, message: "Required value" });
  };
  ["spec.group", "spec.scope", "spec.names.plural", "spec.names.kind", "spec.versions"].forEach(need);
  if (causes.length > 0) return causes;
  const spec = next.spec as unknown as Definition;
  if (next.metadata.name !== `${spec.names.plural}.${spec.group}`) {
    const message = `Invalid value: "${next.metadata.name}": must be spec.names.plural+"."+spec.group`;
    causes.push({ reason: "FieldValueInvalid", field: "metadata.name", message });
  }
  if (spec.versions.filter((version) => version.storage).length !== 1) {
    const message = "Invalid value: must have exactly one version marked as storage version";
    causes.push({ reason: "FieldValueInvalid", field: "spec.versions", message });
  }
  spec.versions.forEach((version, place) => {
    if (version.schema?.openAPIV3Schema) return;
    const message = "Required value: schemas are required";
    causes.push({
      reason: "FieldValueRequired",
      field: `spec.versions[${place}].schema.openAPIV3Schema`,
      message,
    });
  });
  return causes;
}

/** The served versions of a custom resource. Without a converter only `apiVersion` differs, as with strategy None. */
export function customResources(definition: KubeObject, convert: Converter = renamed): Resource[] {
  const spec = definition.spec as unknown as Definition;
  const stored = spec.versions.find((version) => version.storage)?.name ?? "";
  return spec.versions
    .filter((version) => version.served)
    .map((version) => served(spec, version, stored, convert));
}

function renamed(object: KubeObject): KubeObject {
  return object;
}

function served(spec: Definition, version: Served, stored: string, convert: Converter): Resource {
  const schema = version.schema?.openAPIV3Schema ?? {};
  const own = { group: spec.group, version: version.name };
  const into = (object: KubeObject, target: string): KubeObject => {
    const wanted = apiVersion({ group: spec.group, version: target });
    if (object.apiVersion === wanted) return object;
    return { ...convert(copy(object), target), apiVersion: wanted };
  };
  const asJson = (object: KubeObject): Json => object as unknown as Json;
  return resource({
    ...own,
    plural: spec.names.plural,
    kind: spec.names.kind,
    singular: spec.names.singular ?? spec.names.kind.toLowerCase(),
    shortNames: spec.names.shortNames ?? [],
    namespaced: spec.scope === "Namespaced",
    isStored: version.storage,
    hasStatus: version.subresources?.status !== undefined,
    unconditionalUpdate: false,
    statusKeepsMeta: false,
    hasGeneration: true,
    typed: false,
    columns: version.additionalPrinterColumns ?? [AGE],
    fields: Object.fromEntries(
      (version.selectableFields ?? []).map(({ jsonPath }) => {
        const path = jsonPath.replace(/^\./, "");
        return [path, (object: KubeObject) => scalar(at(object, path))];
      }),
    ),
    normalize: (next) => {
      const dropped = prune(asJson(next), schema);
      fill(asJson(next), schema);
      return dropped;
    },
    validate: (next) => check(asJson(next), schema),
    toStorage: (object) => into(object, stored),
    fromStorage: (object) => into(object, version.name),
  });
}

function scalar(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : textOf(value);
}
