import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountOf } from "../src/image/image-config.js";

const PASSWD = "root:x:0:0:root:/root:/bin/sh\nbox:x:1000:50:Box:/srv/box:/bin/sh\nbare:x:7:8:::\n";
const GROUP = "root:x:0:\nstaff:x:50:box\nwheel:x:10:\n";

describe("the user whom an image names", () => {
  it.each([
    ["box", { uid: 1000, gid: 50, home: "/srv/box" }],
    ["1000", { uid: 1000, gid: 50, home: "/srv/box" }],
    ["box:wheel", { uid: 1000, gid: 10, home: "/srv/box" }],
    ["box:11", { uid: 1000, gid: 11, home: "/srv/box" }],
    ["bare", { uid: 7, gid: 8, home: "/" }],
    ["4321", { uid: 4321, gid: 0, home: "/" }],
    ["4321:99", { uid: 4321, gid: 99, home: "/" }],
    ["root:staff", { uid: 0, gid: 50, home: "/root" }],
  ])("%s", (user, account) => expect(accountOf(user, PASSWD, GROUP)).toEqual(account));

  it.each(["nobody", "box:nobody", "-1", "4294967295", "99999999999", "1000x"])(
    "%s is nobody there",
    (user) => expect(accountOf(user, PASSWD, GROUP)).toBeNull(),
  );

  it("a number needs no files, and nothing else is found in none", () => {
    expect(accountOf("5:6", "", "")).toEqual({ uid: 5, gid: 6, home: "/" });
    expect(accountOf("box", "", "")).toBeNull();
  });

  it("is somebody whom the system takes, or nobody, whatever the files say", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (user, passwd, group) => {
        const account = accountOf(user, `${passwd}\n${PASSWD}`, group);
        if (account === null) return;
        for (const id of [account.uid, account.gid]) expect(id >= 0 && id < 2 ** 32 - 1).toBe(true);
      }),
    );
  });
});
