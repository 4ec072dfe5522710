import should from "should";
import { withWords, listWords } from "../../../src/deliveries/delivery";
import { delivered } from "../../harness/deliveries";

describe("the words for a body", () => {
  for (const [body, words] of [
    ['{\n  "order": 42\n}', "order: 42"],
    [
      '{"temp":-2.5e1,"open":true,"none":null,"room":"a \\"b\\"","tags":["x"]}',
      'temp: -2.5e1, open: true, room: a \\"b\\"',
    ],
    [
      '{"id":7,"total":"9.95","customer":{"fullName":"Ada"},"order_number":1001}',
      "order_number: 1001, fullName: Ada, id: 7, total: 9.95",
    ],
    ['{"":1,"rows":[[]]}', '{"":1,"rows":[[]]}'],
    ['[{"id":1}]', '[{"id":1}]'],
    [`{"text":"${"é".repeat(600)}`, `{"text":"${"é".repeat(71)}`],
    ["  hello\r\n\tworld ", "hello world"],
    ["x".repeat(200), "x".repeat(80)],
    ["é".repeat(100), "é".repeat(80)],
    ["", undefined],
    [" \n", undefined],
    ["a\0b", undefined],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), undefined],
    [Buffer.from([0x1f, 0x8b, 8, 0, 0]), undefined],
  ] as const) {
    it(`of ${JSON.stringify(String(body)).slice(0, 30)} are ${String(words).slice(0, 20)}`, () => {
      should(listWords(Buffer.from(body))).equal(words);
    });
  }

  it("are told where no event is known", () => {
    const body = Buffer.from("hello");
    withWords(delivered("1"), body).should.have.property("words", "hello");
    withWords(delivered("1", { webhook: { credential: "first", event: "push" } }), body).should.not.have.property("words");
  }); // prettier-ignore
});
