import type { KubeObject } from "./object.js";
import { badRequest } from "./status.js";

export type Predicate = (object: KubeObject) => boolean;

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

const SET_BASED = /^\s*([A-Za-z0-9./_-]+)\s+(in|notin)\s*\(([^)]*)\)\s*$/;
const EQUALITY = /^\s*([A-Za-z0-9./_-]+)\s*(==|=|!=)\s*([A-Za-z0-9._-]*)\s*$/;
const EXISTENCE = /^\s*(!?)\s*([A-Za-z0-9./_-]+)\s*$/;

/** Cuts at commas outside of parentheses. */
function terms(text: string): string[] {
  return text.split(/,(?![^(]*\))/);
}

function requirement(term: string): Requirement {
  const set = SET_BASED.exec(term);
  if (set) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return operator === "in"
      ? (labels) => labels[key] !== undefined && values.includes(labels[key])
      : (labels) => labels[key] === undefined || !values.includes(labels[key]);
  }
  const equality = EQUALITY.exec(term);
  if (equality) {
    const [, key = "", operator, value = ""] = equality;
    return operator === "!=" ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const existence = EXISTENCE.exec(term);
  if (existence) {
    const [, not, key = ""] = existence;
    return not === "!" ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
  }
  throw badRequest(`unable to parse requirement: ${term.trim()}`);
}

/** A label selector: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas. */
export function labelSelector(text: string): Predicate {
  if (text.trim() === "") return () => true;
  const all = terms(text).map(requirement);
  return (object) => all.every((holds) => holds(object.metadata.labels ?? {}));
}

/** A field selector over the fields that the resource names; any other field is a bad request, as on a real server. */
export function fieldSelector(
  text: string,
  fields: Readonly<Record<string, (object: KubeObject) => string>>,
): Predicate {
  if (text.trim() === "") return () => true;
  const all = text.split(",").map((term) => {
    const match = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term);
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = "", operator, value = ""] = match;
    const read = fields[field];
    if (!read) throw badRequest(`field label not supported: ${field}`);
    return (object: KubeObject) => (read(object) === value) !== (operator === "!=");
  });
  return (object) => all.every((holds) => holds(object));
}
