import { describe, expect, it } from "vitest";
import { GatewayClient } from "../src/client/gateway-client.js";
import { InvalidInputError } from "../src/input-error.js";

const clientWith = (token?: string) => new GatewayClient({ url: "http://127.0.0.1:9", token });

describe("a client's token", () => {
  it.each(["…", "naïve", "two\nlines", "nul\0", "", " ", " before", "after "])(
    "is refused before anything is asked, and not shown, when no header can carry it: %j",
    (token) => {
      expect(() => clientWith(token)).toThrow(InvalidInputError);
      expect(() => clientWith(token)).toThrow(
        'token must be printable ASCII characters, blanks only in between, got "[hidden]"',
      );
    },
  );

  it.each([undefined, "t", "a b", "~!\"#$%&'()*+,-./:;<=>?@[]^_`{|}"])("may be %j", (token) => {
    expect(clientWith(token).url).toBe("http://127.0.0.1:9");
  });
});
