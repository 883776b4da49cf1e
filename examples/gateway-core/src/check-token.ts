import { HIDDEN } from "./gateway/secrets.js";
import { InvalidInputError } from "./input-error.js";

/**
 * @throws InvalidInputError for a token that a header cannot carry, as an unset variable leaves an empty one. It does
 * not show the token.
 */
export function checkToken(name: string, token: string | undefined): void {
  if (token !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(token))
    throw new InvalidInputError(name, "printable ASCII characters, blanks only in between", HIDDEN);
}
