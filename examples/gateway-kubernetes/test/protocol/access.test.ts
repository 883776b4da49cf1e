import { describe, expect, it } from "vitest";
import type { PolicyRule } from "../apiserver/index.js";
import { Https } from "./https.js";
import { freshName, IS_OWN, NEEDS_OWN, useTarget } from "./target.js";

const target = useTarget();

function holder(token: string | undefined): Https {
  const { url, ca } = target.current.endpoint;
  return new Https({ url, ca, ...(token === undefined ? {} : { token }) });
}

/** A client whose token may do this in one namespace, or everywhere. */
function allowed(rules: readonly PolicyRule[], namespace?: string): Https {
  const token = freshName("token");
  const grant = namespace === undefined ? { rules } : { namespace, rules };
  target.current.own.addToken(token, { user: "system:serviceaccount:gw:gateway", grants: [grant] });
  return holder(token);
}

const rule = (verbs: string[], resources = ["sandboxes"], more: Partial<PolicyRule> = {}): PolicyRule => ({
  apiGroups: ["agents.x-k8s.io"],
  resources,
  verbs,
  ...more,
});

describe.skipIf(!IS_OWN)(`who comes in${NEEDS_OWN}`, () => {
  it("with a wrong token is 401, without one is anonymous and 403", async () => {
    const { sandboxes, namespace } = await target.current.room();
    using wrong = holder("wrong");
    const refused = await wrong.get(sandboxes);
    expect([refused.code, refused.body.reason]).toEqual([401, "Unauthorized"]);
    using nobody = holder(undefined);
    const anonymous = await nobody.get(sandboxes);
    expect([anonymous.code, anonymous.body.reason]).toEqual([403, "Forbidden"]);
    expect(anonymous.body.message).toBe(
      `sandboxes.agents.x-k8s.io is forbidden: User "system:anonymous" cannot list resource "sandboxes" in API group "agents.x-k8s.io" in the namespace "${namespace}"`,
    );
  });

  it("loses its way in with the token, and finds it with the next one", async () => {
    const { sandboxes, namespace } = await target.current.room();
    const { own } = target.current;
    const grants = [{ namespace, rules: [rule(["list"])] }];
    own.addToken("first", { user: "u", grants });
    using old = holder("first");
    expect((await old.get(sandboxes)).code).toBe(200);
    own.revokeToken("first");
    own.addToken("second", { user: "u", grants });
    expect((await old.get(sandboxes)).code).toBe(401);
    using renewed = holder("second");
    expect((await renewed.get(sandboxes)).code).toBe(200);
  });

  it("is checked by the server's certificate as well", async () => {
    const { url } = target.current.endpoint;
    const { Authority } = await import("../apiserver/certificates.js");
    using stranger = new Https({ url, ca: new Authority("stranger").cert, token: "x" });
    await expect(stranger.get("/healthz")).rejects.toMatchObject({ code: "SELF_SIGNED_CERT_IN_CHAIN" });
    using named = new Https({ url: url.replace("127.0.0.1", "localhost"), ca: target.current.endpoint.ca });
    expect((await named.get("/healthz")).code).toBe(200);
  });
});

describe.skipIf(!IS_OWN)(`rights${NEEDS_OWN}`, () => {
  it("hold for a verb, a resource and a namespace", async () => {
    const [mine, other] = [await target.current.room(), await target.current.room()];
    await mine.make("a");
    using client = allowed([rule(["get", "patch"])], mine.namespace);
    expect((await client.get(`${mine.sandboxes}/a`)).code).toBe(200);
    expect((await client.merge(`${mine.sandboxes}/a`, {})).code).toBe(200);
    expect((await client.get(mine.sandboxes)).code).toBe(403);
    expect((await client.delete(`${mine.sandboxes}/a`)).code).toBe(403);
    expect((await client.get(`${other.sandboxes}/a`)).code).toBe(403);
    expect((await client.get("/apis/agents.x-k8s.io/v1beta1/sandboxes")).code).toBe(403);
    expect((await client.get(`/api/v1/namespaces/${mine.namespace}/pods`)).code).toBe(403);
    const refused = await client.delete(`${mine.sandboxes}/a`);
    expect(refused.body).toMatchObject({
      message: `sandboxes.agents.x-k8s.io "a" is forbidden: User "system:serviceaccount:gw:gateway" cannot delete resource "sandboxes" in API group "agents.x-k8s.io" in the namespace "${mine.namespace}"`,
      details: { name: "a", group: "agents.x-k8s.io", kind: "sandboxes" },
    });
  });

  it("to an object are none to its status, nor the other way round", async () => {
    const { make, sandboxes, namespace } = await target.current.room();
    await make("a");
    using main = allowed([rule(["patch"])], namespace);
    expect((await main.merge(`${sandboxes}/a/status`, { status: {} })).code).toBe(403);
    using status = allowed([rule(["patch"], ["sandboxes/status"])], namespace);
    expect((await status.merge(`${sandboxes}/a/status`, { status: {} })).code).toBe(200);
    expect((await status.merge(`${sandboxes}/a`, {})).code).toBe(403);
  });

  it("to a list are none to a watch, and to one none to a collection", async () => {
    const { sandboxes, namespace } = await target.current.room();
    using lister = allowed([rule(["list", "delete"])], namespace);
    expect((await lister.get(sandboxes)).code).toBe(200);
    expect((await lister.get(`${sandboxes}?watch=1`)).code).toBe(403);
    expect((await lister.delete(sandboxes)).code).toBe(403);
  });

  it("to a name cover reading, listing and watching it by name, but no creation", async () => {
    const { make, sandboxes, namespace } = await target.current.room();
    await make("a");
    await make("b");
    using client = allowed([rule(["*"], ["sandboxes"], { resourceNames: ["a"] })], namespace);
    expect((await client.get(`${sandboxes}/a`)).code).toBe(200);
    expect((await client.get(`${sandboxes}/b`)).code).toBe(403);
    expect((await client.get(sandboxes)).code).toBe(403);
    const only = await client.get(`${sandboxes}?fieldSelector=metadata.name%3Da`);
    expect(only.body.items.map((item) => item.metadata.name)).toEqual(["a"]);
    using watch = await client.watch(`${sandboxes}?watch=1&fieldSelector=metadata.name%3Da`);
    expect(watch.code).toBe(200);
    expect((await client.post(sandboxes, {})).code).toBe(403);
  });

  it("everywhere reach all namespaces and cluster-wide lists", async () => {
    const { sandboxes } = await target.current.room();
    using client = allowed([{ apiGroups: ["*"], resources: ["*"], verbs: ["list"] }]);
    expect((await client.get(sandboxes)).code).toBe(200);
    expect((await client.get("/apis/agents.x-k8s.io/v1beta1/sandboxes")).code).toBe(200);
    expect((await client.get("/api/v1/namespaces")).code).toBe(200);
  });
});
