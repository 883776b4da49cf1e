import { z } from "zod";

/** What an image says of the program that is run in it. An archive of files alone says nothing. */
export interface ImageConfig {
  /** `NAME=value`, as the engine keeps them. */
  readonly env: readonly string[];
  /** Empty: none. */
  readonly workdir: string;
  /** `user`, `uid`, `user:group` or `uid:gid`; empty for root. */
  readonly user: string;
}

export const NO_CONFIG: ImageConfig = { env: [], workdir: "", user: "" };

export const accountSchema = z.object({ uid: z.int(), gid: z.int(), home: z.string() });

/** Who runs the main process, in the numbers of the image's own files. */
export type Account = z.infer<typeof accountSchema>;

const ID = /^\d{1,10}$/;
/** What the system takes; the last one means "unchanged". */
const MAX_ID = 2 ** 32 - 2;

/**
 * The account that an image's `USER` means, by the `passwd` and `group` of its file system; `null` when the name is in
 * neither. A number needs no entry. Without a group it is the account's own, and root's for a bare number.
 */
export function accountOf(user: string, passwd: string, group: string): Account | null {
  const [name = "", groupName] = user.split(":");
  const entries = linesOf(passwd).map(([login, , uid, gid, , home]) => ({ login, uid, gid, home }));
  const entry = entries.find(({ login, uid }) => login === name || (ID.test(name) && uid === name));
  const gid = groupName === undefined || groupName === "" ? (entry?.gid ?? "0") : gidOf(groupName, group);
  const uid = entry?.uid ?? name;
  if (![uid, gid].every((id) => ID.test(id) && Number(id) <= MAX_ID)) return null;
  return {
    uid: Number(uid),
    gid: Number(gid),
    home: entry?.home === undefined || entry.home === "" ? "/" : entry.home,
  };
}

function gidOf(name: string, group: string): string {
  return linesOf(group).find(([found]) => found === name)?.[2] ?? name;
}

function linesOf(text: string): readonly string[][] {
  return text.split("\n").map((line) => line.trim().split(":"));
}
