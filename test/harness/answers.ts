// Flows that answer their callers, for comparison with core's own.

import type { Flow } from "./node-red";

/** What a flow answers by core's \`http response\`: the properties of its message, as JavaScript. */
export const answers: Record<string, string> = {
  "a string": "{ payload: 'hello' }",
  "a string with a media type": "{ payload: '<Response/>', headers: { 'content-type': 'text/xml' } }",
  "an empty string": "{ payload: '' }",
  nothing: "{ payload: undefined }",
  null: "{ payload: null }",
  "a number": "{ payload: 42 }",
  "the number zero": "{ payload: 0 }",
  "an object": "{ payload: { a: ['é', 1, null] } }",
  "an empty object": "{ payload: {} }",
  "an array": "{ payload: [1, 2] }",
  "a Buffer": "{ payload: Buffer.from([0, 255, 10]) }",
  "a Buffer with a media type": "{ payload: Buffer.from('GIF89a'), headers: { 'Content-Type': 'image/gif' } }",
  "letters beyond ASCII": "{ payload: 'žluťoučký 🐎' }",
  "a megabyte": "{ payload: 'x'.repeat(1e6) }",
  "another status": "{ payload: 'made', statusCode: 201 }",
  "a status as a string": "{ payload: 'made', statusCode: '201' }",
  "no content": "{ payload: 'not sent', statusCode: 204 }",
  "a reset": "{ payload: 'not sent', statusCode: 205 }",
  "an error": "{ payload: { error: 'no' }, statusCode: 422 }",
  "a redirection": "{ payload: '', statusCode: 303, headers: { location: '/elsewhere' } }",
  fields: "{ payload: 'x', headers: { 'X-One': '1', 'X-Many': ['a', 'b'], 'Cache-Control': 'max-age=5' } }",
  "a length of its own": "{ payload: 'abc', headers: { 'content-length': 3 } }",
  "an ETag of its own": "{ payload: 'abc', headers: { etag: `\"v1\"` } }",
  "a cookie": "{ payload: 'x', cookies: { name: 'a b' } }",
  "a cookie with options": "{ payload: 'x', cookies: { name: { value: 'v', httpOnly: true, path: '/p' } } }",
  "a cookie that is taken back": "{ payload: 'x', cookies: { one: null, two: { value: null, path: '/p' } } }",
};

/** What other nodes do with the response of Express's, as JavaScript that knows it and the message. */
export const ways: Record<string, string> = {
  "json()": "(res) => res.status(202).json({ a: 1 })",
  "sendStatus()": "(res) => res.sendStatus(403)",
  "set(), type(), append() and send()": "(res) => res.set('X-A', '1').type('txt').append('X-A', '2').send('done')",
  "format() by what the caller takes":
    "(res) => res.format({ 'text/plain': () => res.send('text'), 'application/json': () => res.json({ json: 1 }) })",
  "redirect()": "(res) => res.redirect('/elsewhere')",
  "attachment()": "(res) => res.attachment('a.csv').send('1,2')",
  "cookie() and clearCookie()": "(res) => res.cookie('a', '1').clearCookie('b').end()",
  "links() and vary()": "(res) => res.links({ next: '/2' }).vary('Accept').send('x')",
  "sendFile()": "(res) => res.sendFile(__filename)",
  "writeHead(), write() and end()":
    "(res) => { res.writeHead(207, { 'Content-Type': 'text/plain' }); res.write('a'); res.end('b'); }",
  "a stream that is piped": "(res) => require('node:stream').Readable.from(['a', 'b', 'c']).pipe(res)",
  "statusCode and setHeader()": "(res) => { res.statusCode = 418; res.setHeader('X-Tea', 'yes'); res.end(); }",
  locals: "(res) => { res.locals.a = 1; res.send(String(res.locals.a)); }",
  events: "(res) => { res.once('finish', () => process.send({ trace: 'finished' })); res.end('x'); }",
  "the app's settings": "(res) => res.send(String(res.app.get('env')))",
  "what it says of itself":
    "(res) => { res.status(200); const before = res.headersSent; res.write('x'); res.end(String([before, res.headersSent])); }",
  "the methods of msg.res": "(res, msg) => msg.res.status(201).set('X-B', '2').send('old')",
};

/** A node that keeps messages until the test lets them go on, and one that answers by `msg.res` in its own way. */
export const answeringNodes = `module.exports = (RED) => {
  const held = [];
  RED.nodes.registerType("hold", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", (msg, send) => {
      held.push(() => send(msg));
      process.send({ trace: "held" });
    });
  });
  process.on("message", ({ release }) => {
    if (!release) return;
    for (const goOn of held.splice(0)) goOn();
    setImmediate(() => process.send({ trace: "released" }));
  });
  RED.nodes.registerType("by-res", function (config) {
    RED.nodes.createNode(this, config);
    const ways = { ${Object.entries(ways)
      .map(([name, way]) => `${JSON.stringify(name)}: ${way}`)
      .join(",")} };
    this.on("input", (msg) => ways[msg.payload.way](msg.res._res, msg));
  });
};`;

/** Two ways into one flow: core's and this package's, with what answers behind them. */
export function answeringFlow(entries: Record<string, unknown>[]): Flow {
  const each = Object.entries(answers).map(([name, message]) => `${JSON.stringify(name)}: () => (${message})`);
  const func = `const answers = { ${each.join(",\n")} };
    return Object.assign(msg, answers[msg.payload.answer]());`;
  return [
    { id: "tab", type: "tab", label: "Answers" },
    ...entries.map((entry) => ({ z: "tab", x: 100, y: 40, ...entry })),
    { id: "answer", type: "function", z: "tab", x: 300, y: 40, func, outputs: 1, wires: [["response"]] },
    { id: "response", type: "http response", z: "tab", x: 500, y: 40, statusCode: "", headers: {}, wires: [] },
    { id: "by-res", type: "by-res", z: "tab", x: 300, y: 80, wires: [] },
  ];
}
