import type { GroupResource } from "./status.js";
import { forbidden } from "./status.js";

/** A rule as a Role or ClusterRole has it. "*" stands for all. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  /** `pods`, `pods/status`, `*`. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Rules and where they hold: in one namespace (RoleBinding) or in all of the cluster (ClusterRoleBinding). */
export interface Grant {
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly grants: readonly Grant[];
}

/** What a request is, for authorization, faults and counting. */
export interface Attributes extends GroupResource {
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly version: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

export const ADMINISTRATORS = "system:masters";

export const ANONYMOUS: Identity = {
  user: "system:anonymous",
  groups: ["system:unauthenticated"],
  grants: [],
};

function covers(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

function allows(rule: PolicyRule, { verb, group, plural, subresource, name }: Attributes): boolean {
  const resource = subresource === "" ? plural : `${plural}/${subresource}`;
  const named = rule.resourceNames === undefined || rule.resourceNames.includes(name);
  return (
    named && covers(rule.verbs, verb) && covers(rule.apiGroups, group) && covers(rule.resources, resource)
  );
}

export function mayDo(who: Identity, what: Attributes): boolean {
  if (who.groups.includes(ADMINISTRATORS)) return true;
  return who.grants.some(
    (grant) =>
      (grant.namespace === undefined || grant.namespace === what.namespace) &&
      grant.rules.some((rule) => allows(rule, what)),
  );
}

export function authorize(who: Identity, what: Attributes): void {
  if (mayDo(who, what)) return;
  const resource = what.subresource === "" ? what.plural : `${what.plural}/${what.subresource}`;
  const where = what.namespace === "" ? "at the cluster scope" : `in the namespace "${what.namespace}"`;
  const why = `User "${who.user}" cannot ${what.verb} resource "${resource}" in API group "${what.group}" ${where}`;
  throw forbidden(what, what.name, why);
}
