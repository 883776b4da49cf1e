import type { Registry } from "./registry.js";
import { apiVersion, type Resource } from "./resource.js";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function described(resource: Resource): object[] {
  const { plural, singular, namespaced, kind, shortNames } = resource;
  const own = { name: plural, singularName: singular, namespaced, kind, verbs: VERBS };
  const status = {
    name: `${plural}/status`,
    singularName: "",
    namespaced,
    kind,
    verbs: ["get", "patch", "update"],
  };
  return [shortNames.length > 0 ? { ...own, shortNames } : own, ...(resource.hasStatus ? [status] : [])];
}

function groups(registry: Registry): object {
  const names = [...new Set(registry.resources.map((one) => one.group))].filter((group) => group !== "");
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: names.map((name) => {
      const versions = [
        ...new Set(registry.resources.filter((one) => one.group === name).map((one) => one.version)),
      ];
      const listed = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
      return { name, versions: listed, preferredVersion: listed.at(-1) };
    }),
  };
}

/** What the paths beside the resources answer, or null. */
export function discovery(registry: Registry, path: string): unknown {
  if (["/healthz", "/readyz", "/livez"].includes(path)) return "ok";
  if (path === "/version") return { major: "1", minor: "36", gitVersion: "v1.36.0-slipway-test" };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (path === "/apis") return groups(registry);
  const groupVersion = /^\/apis\/(.+)$/.exec(path)?.[1] ?? (path === "/api/v1" ? "v1" : null);
  const found = registry.resources.filter((one) => apiVersion(one) === groupVersion);
  if (found.length === 0) return null;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: found.flatMap(described) };
}
