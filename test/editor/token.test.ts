import "should";
import { tokenLength } from "../../src/config/fields";
import { catalogText } from "../harness/browser";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const flow = webhookFlow(...["saved", "renamed", "replaced"].map((id) => ({ id, relativePath: `/${id}` })), {
  id: "deployed",
  relativePath: "/deployed",
  credentials: {},
});

describe("the token in the form", () => {
  const { editor, nodeRed } = useEditor(flow);

  const type = () => editor().input("token").getAttribute("type");
  const status = async (path: string, headers: Record<string, string>) =>
    (await send(nodeRed().node(path), { headers })).status;

  it("is kept without being shown once it is saved, and replaced as a whole by typing", async () => {
    await editor().edit("saved");
    (await type())?.should.equal("password");
    (await editor().message("token").isVisible()).should.be.false();
    (await editor().hint("token").innerText()).should.equal(catalogText("credential.kept"));
    (await editor().tokenButton("show").isDisabled()).should.be.true();
    await editor().input("token").focus();
    await editor().page.keyboard.type("typed");
    (await editor().input("token").inputValue()).should.equal("typed");
    (await editor().tokenButton("show").isDisabled()).should.be.false();
    (await editor().message("token").innerText()).should.equal(catalogText("rules.token.length"));
  });

  it("is made of 40 base64url characters, can be shown again until it is deployed, stays when another field is changed, and is replaced by a new one", async () => {
    await editor().edit("renamed");
    await editor().enter({ relativePath: "/other" });
    await editor().done();
    await editor().edit("replaced");
    const replacing = await editor().makeToken();
    await editor().done();
    await editor().edit("deployed");
    const token = await editor().makeToken();
    token.should
      .match(/^[A-Za-z0-9_-]*$/)
      .and.have.length(tokenLength)
      .and.not.equal(replacing);
    (await type())?.should.equal("text");
    (await editor().note("seen").innerText()).trim().should.equal(catalogText("handover.tokenSeen"));
    await editor().done();
    await editor().edit("deployed");
    for (const [label, now, next] of [
      ["credential.show", "password", "text"],
      ["credential.hide", "text", "password"],
    ] as const) {
      (await type())?.should.equal(now);
      const name = catalogText(label, { name: catalogText("label.token") });
      (await editor().tokenButton("show").getAttribute("aria-label"))?.should.equal(name);
      await editor().tokenButton("show").click();
      (await type())?.should.equal(next);
    }
    (await editor().input("token").inputValue()).should.equal(token);
    await editor().done();

    await editor().deploy();
    await nodeRed().status("renamed", /other/);
    (await status("/other", bearer)).should.equal(200);
    (await status("/deployed", { Authorization: `Bearer ${token}` })).should.equal(200);
    (await status("/replaced", { Authorization: `Bearer ${replacing}` })).should.equal(200);
    (await status("/replaced", bearer)).should.equal(401);
    await editor().edit("deployed");
    (await editor().tokenButton("show").isDisabled()).should.be.true();
    (await editor().input("token").inputValue()).should.not.equal(token);
  });
});
