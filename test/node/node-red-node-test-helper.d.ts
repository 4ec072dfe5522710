/** The part of the helper that the tests use; it brings no types of its own. */
declare module "node-red-node-test-helper" {
  import type { Node, NodeInitializer } from "node-red";

  const helper: {
    init(nodeRedPath: string): void;
    startServer(): Promise<void>;
    stopServer(): Promise<void>;
    load(
      nodes: NodeInitializer | NodeInitializer[],
      flow: Record<string, unknown>[],
      credentials: Record<string, Record<string, string>>,
    ): Promise<void>;
    unload(): Promise<void>;
    getNode(id: string): Node & Record<string, unknown>;
  };
  export = helper;
}
