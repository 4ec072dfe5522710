/** A plugin with nodes that take a message and are done with it when they are told: by `{ end: <id>, error? }`. */
export const holding = `
module.exports = (RED) => {
  RED.nodes.registerType("hold", function (config) {
    RED.nodes.createNode(this, config);
    const held = [];
    const tell = (message) => {
      if (message.end !== this.id) return;
      for (const end of held.splice(0)) end(message.error && new Error(message.error));
      process.send({ trace: this.id + " ended" });
    };
    process.on("message", tell);
    this.on("close", () => process.off("message", tell));
    this.on("input", (msg, send, done) => {
      const { _msgid, topic, payload, rawBody, req, webhook } = msg;
      process.send({ message: { sink: this.id, keys: Object.keys(msg), _msgid, topic, payload, rawBody, req, webhook } });
      held.push((error) => { if (!error) send(msg); done(error); });
    });
  });
};`;

/** The node that has the messages of a webhook trigger, until it is told to be done with them. */
export const held = (id: string, wires: string[] = []) => ({ id: `hold-${id}`, type: "hold", wires: [wires] });
