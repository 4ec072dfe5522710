// One-time tokens for test requests, so that whatever answers does not get the endpoint's own.

import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { digest, digestOfPresented, isSame } from "./digest";
import { isLoopback } from "./limits";
import { testField } from "./present";
import { fieldValues, type RequestHead } from "../request/head";

/** A token for one request. */
export interface TestCredential {
  readonly token: string;
  /** Its request uses this local port. */
  leaveBy(port: number): void;
  /** It is no longer valid. */
  revoke(): void;
}

interface Issued {
  /** The id of the node; a deploy may replace its endpoint. */
  readonly node: string;
  readonly token: string;
  readonly digest: Buffer;
  port?: number;
  usedBy?: object;
}

const none: readonly string[] = [];

/** The valid test credentials: as many as there are test requests on their way. */
export class TestCredentials {
  readonly #issued = new Set<Issued>();

  /** @param node the id of the node that accepts it */
  issue(node: string): TestCredential {
    // 30 bytes are 40 characters in base64url (RFC 4648 §5).
    const token = randomBytes(30).toString("base64url");
    const issued: Issued = { node, token, digest: digest(token) };
    this.#issued.add(issued);
    return { token, leaveBy: (port) => (issued.port = port), revoke: () => this.#issued.delete(issued) };
  }

  /** @param node the id of the node that accepts them */
  of(node: string): NodeTestCredentials {
    return new NodeTestCredentials(this.#issued, node);
  }

  /** Whether a connection is that of a test request: while it is on its way, no one else has its port. */
  isFromUs({ remoteAddress = "", remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): boolean {
    if (this.#issued.size === 0 || remotePort === undefined || !isLoopback(remoteAddress)) return false;
    return [...this.#issued].some(({ port }) => port === remotePort);
  }
}

/** The test credentials of one node. */
export class NodeTestCredentials {
  readonly #issued: ReadonlySet<Issued>;
  readonly #node: string;

  constructor(issued: ReadonlySet<Issued>, node: string) {
    this.#issued = issued;
    this.#node = node;
  }

  /**
   * Whether a token is a test credential that no other request has used.
   *
   * @param request identifies the request, which is asked again after a deploy
   */
  accept(presented: Buffer, request: object): boolean {
    for (const issued of this.#issued) {
      if (issued.node !== this.#node || !isSame(presented, issued.digest)) continue;
      issued.usedBy ??= request;
      return issued.usedBy === request;
    }
    return false;
  }

  /** Whether a request has a test credential in the header field for it. */
  isTest({ rawHeaders }: RequestHead): boolean {
    const [presented, ...more] = fieldValues(rawHeaders, testField);
    if (presented === undefined || more.length > 0) return false;
    return this.accept(digestOfPresented(presented), rawHeaders);
  }

  /** To be redacted as the token is. */
  tokens(): readonly string[] {
    // Called for each redacted text.
    if (this.#issued.size === 0) return none;
    return Array.from(this.#issued).flatMap((issued) => (issued.node === this.#node ? [issued.token] : []));
  }
}
