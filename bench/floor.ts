/** A node that serves by `node:http` alone, inside Node-RED's process: the floor that a webhook node there is measured from. */
import type { Node, NodeAPI, NodeDef } from "node-red";
import { hasToken, leastServer, listenLocally } from "./least";

export = function floor(RED: NodeAPI): void {
  function Floor(this: Node, config: NodeDef & { token: string }): void {
    RED.nodes.createNode(this, config);
    const server = leastServer(hasToken(config.token), (payload) => {
      const id = RED.util.generateId();
      this.send({ _msgid: id, payload });
      return id;
    });
    listenLocally(server, (port) => this.warn(`the floor listens on ${port}`));
    this.on("close", (done: () => void) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  }
  RED.nodes.registerType("floor", Floor);
};
