// One-time tokens for test requests, so that the endpoint's own goes to nobody who happens to answer.

import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { digest, isSame } from "./digest";
import { isLoopback } from "./limits";

/** A token for one request. */
export interface TestCredential {
  readonly token: string;
  /** Its request leaves by a port of this computer. */
  leaveBy(port: number): void;
  /** From now on it is nobody's token. */
  revoke(): void;
}

interface Issued {
  /** Whose endpoint it is for; a deploy may put another in its place. */
  owner: string;
  token: string;
  digest: Buffer;
  port: number | undefined;
  usedBy: object | undefined;
}

const none: readonly string[] = [];

/** The stand-ins that are valid at this moment: as many as there are test requests on their way, most often none. */
export class TestCredentials {
  readonly #issued = new Set<Issued>();

  /** @param owner the id of the node whose endpoint is to accept it */
  issue(owner: string): TestCredential {
    // 30 bytes are 40 characters in base64url (RFC 4648 §5): what a token looks like.
    const token = randomBytes(30).toString("base64url");
    const issued: Issued = { owner, token, digest: digest(token), port: undefined, usedBy: undefined };
    this.#issued.add(issued);
    return { token, leaveBy: (port) => (issued.port = port), revoke: () => this.#issued.delete(issued) };
  }

  /**
   * Whether a token is a stand-in that no other request has used.
   *
   * @param request what stands for the request: after a deploy, the same one is asked for its token once more
   */
  accept(owner: string, presented: Buffer, request: object): boolean {
    for (const issued of this.#issued) {
      if (issued.owner !== owner || !isSame(presented, issued.digest)) continue;
      issued.usedBy ??= request;
      return issued.usedBy === request;
    }
    return false;
  }

  /** Whether a connection is that of a test request: while that is on its way, nobody else has its port. */
  isFromUs({ remoteAddress = "", remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): boolean {
    if (this.#issued.size === 0 || remotePort === undefined || !isLoopback(remoteAddress)) return false;
    return [...this.#issued].some(({ port }) => port === remotePort);
  }

  /** The stand-ins for an endpoint, which are to be kept secret as its token is. */
  tokens(owner: string): readonly string[] {
    // Asked for each text that is redacted.
    if (this.#issued.size === 0) return none;
    return Array.from(this.#issued).flatMap((issued) => (issued.owner === owner ? [issued.token] : []));
  }
}
