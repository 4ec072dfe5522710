import should from "should";
import { searchedIn } from "../../../src/deliveries/delivery";
import { hiddenOf, withoutHidden } from "../../../src/deliveries/hidden";
import { mask } from "../../../src/deliveries/masks";
import { detailOf } from "../../../src/deliveries/shown";
import type { Kept } from "../../../src/deliveries/delivery";
import { wordsOf, withWords } from "../../../src/deliveries/words";
import { delivered } from "../../harness/stores";

describe("what of a body is shown to nobody", () => {
  const body = Buffer.from("0123456789");

  for (const [spans, shown] of [
    [[], "0123456789"],
    [[[2, 4]], `01${mask}456789`],
    [[[8, 10], [0, 1]], `${mask}1234567${mask}`],
    [[[1, 5], [2, 3], [5, 6]], `0${mask}${mask}6789`],
    [[[8, 20]], `01234567${mask}`],
    [[[10, 12]], "0123456789"],
  ] as const) {
    it(`at ${JSON.stringify(spans)} is masked`, () => {
      should(String(withoutHidden(body, hiddenOf(spans, body.length)))).equal(shown);
    });
  }

  it("is nothing where it is not kept", () => should(withoutHidden(Buffer.alloc(0), [[0, 1]])).have.length(0));

  it("is the rest where it is too much", () => {
    const many = Array.from({ length: 1001 }, (_, index) => [3 * index, 3 * index + 1] as const);
    const shown = String(withoutHidden(Buffer.from("abc".repeat(2000)), hiddenOf(many, 6000)));
    should(shown).equal(`${mask}bc`.repeat(999) + mask);
  });

  it("is no part of the words, of what is searched, or of what is told, wherever the body is cut", () => {
    const long = Buffer.from(`${"x".repeat(1024 * 1024 - 3)}secret and more`);
    const delivery = delivered("1", {
      webhook: { credential: "first", id: "of-the-sender" },
      isIdHidden: true,
      hidden: [[1024 * 1024 - 3, 1024 * 1024 + 3]],
      size: long.length,
    });
    const kept: Kept = { delivery, body: long, runs: [] };
    const { body: shown, senderId } = detailOf(kept, String);
    should(shown).eql({ encoding: "utf8", data: "x".repeat(1024 * 1024 - 3) + mask, truncated: true });
    should(senderId).be.null();
    searchedIn(delivery).should.not.containEql("of-the-sender");
    withWords({ ...delivery, hidden: [[0, 110]] }, body).should.have.property("words", mask);
    should(wordsOf(withoutHidden(body, [[1, 9]]))).equal(`0${mask}9`);
  });
}); // prettier-ignore
