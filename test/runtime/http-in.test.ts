import { isDeepStrictEqual } from "node:util";
import should from "should";
import { acceptedBodies } from "../harness/bodies";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";

const strip = "return { topic: msg.req.query.case, payload: msg.payload };";
const flow = tab(
  { id: "core", type: "http in", method: "post", url: "/core", upload: false, wires: [["strip", "reply"]] },
  webhook("own", "/own", { wires: [["strip"]] }),
  { id: "strip", type: "function", func: strip, outputs: 1 },
  { id: "reply", type: "http response", statusCode: "200", headers: {}, wires: [] },
);

/** What core reads in another way, and what it loses by that. */
const differences: Record<string, readonly string[]> = {
  "an empty body is an empty text": ["an empty body of JSON", "an empty body of an unknown type"],
  "JSON of any type is a value": ["a +json type", "a +json type outside application"],
  "names that could reach a prototype are left out": ["__proto__ in JSON", "escaped __proto__ in JSON"],
  "texts are read in their charset, and what is none stays bytes": [
    ...["text in Latin-1", "text in Shift JIS", "UTF-16 with a byte-order mark", "bytes without a type"],
    ...["text with bytes that are no UTF-8", "an application type with bytes"],
  ],
  "brackets in the names of a form mean nothing": [
    ...["a form whose names have brackets", "a form with __proto__", "a form that starts like JSON"],
  ],
  "what is labelled as a form and is none is kept as it is": [
    ...["JSON sent as a form", "a JSON array sent as a form", "a JSON scalar sent as a form"],
    ...["broken JSON sent as a form", "text sent as a form", "text with a plus sent as a form"],
  ],
  "JSON in the only field of a form is a value": ["JSON as the only field payload of a form"],
  "binary types are bytes, whatever is in them": [
    ...["senml+cbor", "protobuf", "vnd.google.protobuf", "msgpack", "x-msgpack", "vnd.msgpack", "zip"],
    "x-zip-compressed",
  ].map((type) => `the type application/${type}`),
};
const differing = Object.values(differences).flat();

describe("a body of a type that core's http in reads", () => {
  const nodeRed = useNodeRed({ flow });
  for (const [index, { name, type, body, payload }] of acceptedBodies.entries()) {
    const isAlike = !differing.includes(name);
    it(`is read by a webhook trigger ${isAlike ? "alike" : "in its own way"}: ${name}`, async () => {
      const read = async (path: string) => {
        const topic = `${path}-${index}`;
        const headers = { ...bearer, ...(type !== undefined && { "Content-Type": type }) };
        const { status } = await send(nodeRed().node(`/${path}?case=${topic}`), { headers, body });
        if (status !== 200) return { status };
        const find = () => nodeRed().messages.find((message) => message.topic === topic);
        return { status, payload: (await nodeRed().until(find, `the message of ${topic}`)).payload };
      };
      const [core, own] = [await read("core"), await read("own")];
      should(own).eql({ status: 200, payload });
      // Of JSON, body-parser refuses all but objects and lists.
      if (core.status === 200) should(isDeepStrictEqual(own.payload, core.payload)).equal(isAlike);
    });
  }
});
