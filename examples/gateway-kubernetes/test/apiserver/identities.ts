import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { ANONYMOUS, type Grant, type Identity } from "./access.js";
import type { Authority, KeyPair } from "./certificates.js";
import { ApiError } from "./status.js";

/** Who may come in: bearer tokens and client certificates, each with its rights. */
export class Identities {
  readonly #authority: Authority;
  readonly #tokens = new Map<string, Identity>();
  readonly #users = new Map<string, readonly Grant[]>();

  constructor(authority: Authority) {
    this.#authority = authority;
  }

  addToken(token: string, identity: Partial<Identity> & Pick<Identity, "user">): void {
    this.#tokens.set(token, { groups: ["system:authenticated"], grants: [], ...identity });
  }

  revokeToken(token: string): void {
    this.#tokens.delete(token);
  }

  clientCertificate(user: string, organization: string, grants: readonly Grant[]): KeyPair {
    this.#users.set(user, grants);
    return this.#authority.issue({ commonName: user, organization });
  }

  /** A wrong token is 401; without any credential the request is anonymous and left to its rights. */
  identify(request: IncomingMessage): Identity {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (bearer !== undefined) {
      const known = this.#tokens.get(bearer.trim());
      if (known === undefined) throw new ApiError(401, "Unauthorized", "Unauthorized");
      return known;
    }
    const { socket } = request;
    if (!(socket instanceof TLSSocket) || !socket.authorized) return ANONYMOUS;
    const subject = socket.getPeerCertificate().subject as {
      readonly CN?: string;
      readonly O?: string | string[];
    };
    const user = subject.CN ?? "";
    return { user, groups: [subject.O ?? []].flat(), grants: this.#users.get(user) ?? [] };
  }
}
