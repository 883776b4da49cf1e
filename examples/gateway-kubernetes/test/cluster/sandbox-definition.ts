import definition from "./sandbox-crd.json" with { type: "json" };

export type SandboxVersion = "v1alpha1" | "v1beta1";

/**
 * The CustomResourceDefinition of sandboxes that serves these versions, the last of them stored: v1alpha1 alone as
 * before agent-sandbox 0.5, both as since.
 *
 * Faked: the pod's spec is not described field by field but kept whole, and there is no conversion webhook: the test
 * server converts by itself (sandbox-conversion.ts).
 */
export function sandboxDefinition(versions: readonly SandboxVersion[]): typeof definition {
  const { spec } = definition;
  const kept = spec.versions.filter(({ name }) => versions.some((version) => version === name));
  const stored = versions.at(-1);
  return {
    ...definition,
    spec: {
      ...spec,
      versions: kept.map((version) => ({
        ...version,
        storage: version.name === stored,
      })),
    },
  };
}
