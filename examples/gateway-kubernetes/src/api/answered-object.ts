import { nameOf, textAt, uidOf, type Plain } from "./plain.js";

/** Whether an answer is the object of this name, as a server has it. */
export function isObjectOf(name: string): (found: Plain) => boolean {
  return (found) => nameOf(found) === name && uidOf(found) !== "";
}

/** The object as it goes, or a `Status` once it is gone. */
export function isRemovalOf(name: string): (found: Plain) => boolean {
  const isObject = isObjectOf(name);
  return (found) =>
    isObject(found) || (found["kind"] === "Status" && textAt(found, "details", "name") === name);
}

/** The name in the path of an object, or of a part of it such as its status. */
export function nameIn(path: string): string {
  const [, root, ...rest] = path.split("/");
  const place = rest.slice(root === "api" ? 1 : 2);
  // A path of four has a namespace in front of collection and name; one of two is a namespace's own.
  return (place[0] === "namespaces" && place.length > 3 ? place[3] : place[1]) ?? "";
}
