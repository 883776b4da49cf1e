import fc from "fast-check";

/** Secrets as people have them: keys, passwords with any character in them, connection strings. */
export const long = fc.oneof(
  fc.stringMatching(/^sk-[A-Za-z0-9]{12,24}$/),
  fc.stringMatching(/^[!-~]{8,20}$/).filter((text) => !/^[\w.]*$/.test(text)),
  fc.stringMatching(/^postgres:\/\/u:[a-z0-9]{10}@db\/x$/),
);
/** And short ones, which a text may have in its words as well. */
export const secret = fc.oneof(long, fc.stringMatching(/^Zq[0-9]{1,3}$/));
