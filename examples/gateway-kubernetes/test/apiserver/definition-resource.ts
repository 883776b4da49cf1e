import { copy, isObject, textOf, timestamp, type KubeObject } from "./object.js";
import { resource, specOf, type Resource } from "./resource.js";

export const CRD_STORAGE = "customresourcedefinitions.apiextensions.k8s.io";

/** Definitions are checked and established where they take effect: see custom-resources.ts. */
export function customResourceDefinitions(own: Pick<Resource, "validate">, now: () => number): Resource {
  return resource({
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    shortNames: ["crd"],
    namespaced: false,
    hasStatus: true,
    unconditionalUpdate: false,
    hasGeneration: true,
    validate: own.validate,
    prepare: (next, previous, subresource) => {
      if (subresource === "status") return;
      const spec = specOf(next);
      spec["conversion"] ??= { strategy: "None" };
      if (isObject(spec["names"])) {
        const kind = textOf(spec["names"]["kind"]);
        spec["names"]["singular"] ??= kind.toLowerCase();
        spec["names"]["listKind"] ??= `${kind}List`;
      }
      if (previous !== null) return;
      const since = timestamp(now());
      next.status = {
        acceptedNames: copy(spec["names"] ?? {}),
        storedVersions: storageVersions(next),
        conditions: [
          {
            type: "NamesAccepted",
            status: "True",
            lastTransitionTime: since,
            reason: "NoConflicts",
            message: "no conflicts found",
          },
          {
            type: "Established",
            status: "True",
            lastTransitionTime: since,
            reason: "InitialNamesAccepted",
            message: "the initial names have been accepted",
          },
        ],
      };
    },
  });
}

function storageVersions(definition: KubeObject): string[] {
  const versions = definition.spec?.["versions"];
  if (!Array.isArray(versions)) return [];
  return versions.flatMap((version) =>
    isObject(version) && version["storage"] === true ? [textOf(version["name"])] : [],
  );
}
