// One-time tokens for test requests, so that whatever answers does not get the endpoint's own.

import type { Socket } from "node:net";
import { digest, digestOfPresented, isSame, makeToken } from "./digest";
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
  /** Whether the request needs no other credential. */
  readonly isProof: boolean;
  readonly token: string;
  readonly digest: Buffer;
  port?: number;
  usedBy?: object;
}

const none: readonly string[] = [];

/** The valid test credentials: as many as there are test requests on their way. */
export class TestCredentials {
  readonly #issued = new Set<Issued>();

  /**
   * @param node the id of the node that accepts it
   * @param isProof whether its request has no other credential; else it only says that the request is a test
   */
  issue(node: string, isProof = true): TestCredential {
    const token = makeToken();
    const issued: Issued = { node, isProof, token, digest: digest(token) };
    this.#issued.add(issued);
    return { token, leaveBy: (port) => (issued.port = port), revoke: () => this.#issued.delete(issued) };
  }

  /** Whether a connection is that of a test request: while it is on its way, no one else has its port. */
  isFromUs({ remoteAddress = "", remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): boolean {
    if (this.#issued.size === 0 || remotePort === undefined || !isLoopback(remoteAddress)) return false;
    return [...this.#issued].some(({ port }) => port === remotePort);
  }

  /** @param node the id of the node that accepts them */
  of(node: string): NodeTestCredentials {
    const issued = this.#issued;
    /** The one that is presented, unless another request has used it. */
    const find = (presented: Buffer, request: object) => {
      const found = [...issued].find((each) => each.node === node && isSame(presented, each.digest));
      if (!found) return undefined;
      found.usedBy ??= request;
      return found.usedBy === request ? found : undefined;
    };
    const findIn = ({ rawHeaders }: RequestHead) => {
      // Called for each request.
      if (issued.size === 0) return undefined;
      const [presented, ...more] = fieldValues(rawHeaders, testField);
      if (presented === undefined || more.length > 0) return undefined;
      return find(digestOfPresented(presented), rawHeaders);
    };
    return {
      accept: (presented, request) => find(presented, request)?.isProof === true,
      isTest: (head) => findIn(head)?.isProof === true,
      isSignedTest: (head) => findIn(head)?.isProof === false,
      // Called for each redacted text.
      tokens: () =>
        issued.size === 0 ? none : [...issued].filter((each) => each.node === node).map(({ token }) => token),
    };
  }
}

/** The test credentials of one node. */
export interface NodeTestCredentials {
  /**
   * Whether a token is a test credential that no other request has used.
   *
   * @param request identifies the request, which is asked again after a deploy
   */
  accept(presented: Buffer, request: object): boolean;
  /** Whether a request has a test credential in the header field for it, and needs no other one. */
  isTest(head: RequestHead): boolean;
  /** Whether a request that has a credential of its sender says that it is a test. */
  isSignedTest(head: RequestHead): boolean;
  /** To be redacted as the token is. */
  tokens(): readonly string[];
}
