// What a node could get hold of by `msg.res`, if it wanted to.

/**
 * Ways to have something called or written to by the response itself, as JavaScript: each hands whatever it gets hold of
 * to \`take\`, and answers the caller or leaves that to the others.
 */
export const grasps: Record<string, string> = {
  "what end() calls back": "res.end('x', function (...given) { take(this, given); })",
  "what write() calls back": "res.write('x', function (...given) { take(this, given); }); res.end()",
  "what listens to it":
    "for (const event of ['finish', 'close', 'prefinish']) res.on(event, function (...given) { take(this, given); }); res.end('x')",
  "what listens to its connection":
    "for (const event of ['close', 'end', 'error', 'drain']) res.socket.on(event, function (...given) { take(this, given); }); res.set('Connection', 'close').end('x')",
  "what its time limit calls": "res.setTimeout(5, function (...given) { take(this, given); res.end('x'); })",
  "what its connection's time limit calls":
    "res.socket.setTimeout(5, function (...given) { take(this, given); res.end('x'); })",
  "a connection of one's own":
    "try { const own = { on() {} }; res.assignSocket(own); take(own); } catch { /* None is taken. */ } res.end('x')",
  "a writeHead() of one's own":
    "const { writeHead } = res; res.writeHead = function (...given) { take(this, given); return writeHead.apply(this, given); }; res.end('x')",
  "an end() of one's own":
    "const { end } = res; res.end = function (...given) { take(this, given); return end.apply(this, given); }; res.send('x')",
  "an emit() of one's own": "res.emit = function (...given) { take(this, given); return true; }; res.end('x')",
  "what sendFile() calls back": "res.sendFile(__filename, function (...given) { take(this, given); })",
  "what format() calls": "res.format({ default(...given) { take(this, given); res.end('x'); } })",
  "what links and getters give":
    "take(res.req.res.req.socket, res.connection, res.req.connection, res.app.response, res.req.app.request); res.end('x')",
};

/** The source of a node that takes all that it can reach by `msg.res`, and tells where in that it finds a text. */
export const reachingNode = `module.exports = (RED) => {
  const { inspect } = require("node:util");
  const { IncomingMessage, ServerResponse } = require("node:http");
  const { Socket } = require("node:net");
  const taken = [];
  let wanted = [];

  /** Also those that no object lists, symbols among them: what is behind it may have them. */
  const keysOf = (object) => {
    const keys = [];
    for (let layer = object; layer; layer = Object.getPrototypeOf(layer)) keys.push(...Reflect.ownKeys(layer));
    return keys;
  };
  const incoming = new IncomingMessage(new Socket());
  const usual = [...new Set([incoming, new ServerResponse(incoming), new Socket()].flatMap(keysOf))];
  const isTold = (text) => wanted.some((each) => text.includes(each));
  const tells = (value) =>
    typeof value === "string" ? isTold(value) : Buffer.isBuffer(value) && isTold(value.toString("latin1"));

  function* partsOf(value, isNear) {
    for (const key of new Set([...keysOf(value), ...(isNear ? usual : [])])) {
      yield [String(key), "a key"];
      try {
        const part = value[key];
        if (part instanceof Promise) part.catch(() => undefined);
        yield [part, String(key)];
      } catch {
        // Some may be looked at on something else only.
      }
    }
    if (value instanceof Map) yield [[...value], "entries"];
  }

  function look() {
    // What all requests have in common holds nothing of any, but for the last text that any code has matched (RegExp.input).
    const seen = new Set([RED, RED.httpNode, RED.httpAdmin, globalThis, process, RegExp]);
    const { size } = seen;
    const line = taken.map((value, index) => [value, [index]]);
    for (const [value, path] of line) {
      if (tells(value)) return path.join(" > ");
      if (!["object", "function"].includes(typeof value) || value === null || seen.has(value)) continue;
      if (seen.add(value).size > size + 20_000) return "no end at " + path.join(" > ");
      for (const [part, key] of partsOf(value, path.length < 4)) line.push([part, [...path, key]]);
    }
    return "nothing";
  }

  process.on("message", ({ look: isAsked }) => {
    if (isAsked) process.send({ trace: "reached " + look() });
  });
  RED.nodes.registerType("reach", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", (msg) => {
      const { grasp, hex } = msg.req.query;
      const res = msg.res._res;
      wanted = hex.split(" ").map((text) => Buffer.from(text, "hex").toString());
      taken.splice(0, Infinity, msg.res);
      if (grasp !== undefined) {
        taken.pop();
        return new Function("res", "take", "__filename", grasp)(res, (...given) => taken.push(...given), __filename);
      }
      const all = { showHidden: true, showProxy: true, depth: 12, maxStringLength: Infinity, maxArrayLength: Infinity };
      taken.push(inspect(msg.res, all), inspect(res, all));
      res.end("x");
    });
  });
};`;
