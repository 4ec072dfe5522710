import "should";
import { senders } from "../../src/auth/senders/table";
import { shouldGrowEvenly } from "../harness/cost";
import { fieldsReadFor, hostileTexts } from "../harness/hostile";
import { signers, signingIds } from "../harness/signers";
import { authenticatorFor } from "../harness/verification";

const publicUrl = "https://hooks.example.com/hook";

describe("the time to check a request", () => {
  for (const id of signingIds) {
    it(`grows no faster than a header field that is read for ${id}, whatever is in it`, async () => {
      const [secret = ""] = signers[id].secrets;
      const authenticator = authenticatorFor(id, { secret, settings: { publicUrl } });
      const body = Buffer.from('{"a":1}');
      const check = (rawHeaders: string[]) => {
        const result = authenticator.begin({ method: "POST", rawHeaders, search: "" }, Date.now());
        if ("verify" in result) result.verify(body);
      };
      const fields = [...fieldsReadFor(senders[id])];
      await shouldGrowEvenly((size) => {
        for (const text of Object.values(hostileTexts(size))) {
          for (const [name, beginning] of fields) {
            check(["Content-Type", "application/json", name, beginning + text]);
            // The others are as the sender writes them, so that this one is come to.
            const others = fields.filter(([other]) => other !== name);
            check([...others.flatMap(([other, start]) => [other, `${start}1`]), name, text]);
          }
        }
      }, 16_384);
    });
  }
});
