import { mock } from "node:test";
import should from "should";
import { problems } from "../../../src/request/problem";
import { Observed, settle } from "../../harness/observed";

const minute = 60_000;

describe("the status of a node", () => {
  let observed: Observed;
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.UTC(2026, 0, 1) });
    observed = new Observed();
  });
  afterEach(() => mock.timers.reset());

  const times = (count: number, act: (index: number) => void) => {
    for (let index = 0; index < count; index++) act(index);
  };
  const shown = async () => {
    const { fill, text } = (await observed.status()) ?? {};
    return `${fill} ${text}`;
  };

  it("is renewed at most twice a second, and ends with the last count", async () => {
    observed.deploy();
    await settle();
    const texts = () => observed.statuses.splice(0).map(({ text }) => text);
    texts().should.eql(["status.open /hook 0 0"]);
    times(100, () => observed.accept());
    mock.timers.tick(499);
    await settle();
    texts().should.eql([]);
    mock.timers.tick(1);
    await settle();
    texts().should.eql(["status.open /hook 100 0"]);
    mock.timers.tick(5000);
    await settle();
    texts().should.eql([]);
    observed.refuse();
    await settle();
    texts().should.eql(["status.openRefusing /hook 100 1"]);
  });

  it("has what changes it while it is being shown when its next time has come", async () => {
    const { statuses } = observed;
    const push = statuses.push.bind(statuses);
    statuses.push = (status) => {
      if (statuses.length === 0) observed.accept();
      return push(status);
    };
    observed.deploy();
    await settle();
    mock.timers.tick(500);
    await settle();
    statuses.map(({ text }) => text).should.eql(["status.open /hook 0 0", "status.open /hook 1 0"]);
  });

  it("goes on counting after a deploy, and so does the form; a deleted node begins anew", async () => {
    observed.deploy();
    observed.accept();
    observed.refuse();
    observed.deploy();
    observed.accept("2", "duplicate");
    (await shown()).should.equal("green status.openRefusing /hook 1 1, status.duplicates 1");
    should(await observed.ask(":id/lastRequest")).containEql({ accepted: 1, refused: 1, duplicates: 1, unanswered: 0 });
    observed.deploy();
    should(await observed.ask(":id/lastRequest")).match({ last: { at: Date.now() - 500, outcome: "duplicate" } });
    observed.delete();
    should(await observed.ask(":id/lastRequest")).equal(404);
    observed.deploy();
    (await shown()).should.equal("green status.open /hook 0 0");
  });

  it("is red where httpNodeAuth refuses the requests, until one is accepted", async () => {
    observed.deploy({ isGuarded: true });
    (await shown()).should.equal("red status.guarded /hook");
    observed.accept();
    (await shown()).should.equal("green status.open /hook 1 0");
  });

  describe("is yellow while everything is refused:", () => {
    const yellow = /^yellow .*status.allRefused/;

    it("five requests in a row, and not four, until one has proved its sender, or the node is deployed", async () => {
      observed.deploy();
      for (const act of [
        () => observed.accept(),
        () => observed.accept("1", "duplicate"),
        () => observed.filter(),
        () => observed.handshake(true),
        () => observed.deploy(),
      ]) {
        times(4, () => observed.refuse());
        (await shown()).should.not.match(yellow);
        observed.refuse();
        (await shown()).should.match(yellow);
        act();
        (await shown()).should.startWith("green");
      }
    });

    it("also where strangers ask in between what anybody may ask, as by a HEAD request", async () => {
      observed.deploy();
      times(5, () => {
        observed.refuse();
        observed.handshake(false);
      });
      (await shown()).should.match(yellow);
      observed.handshake(false);
      (await shown()).should.match(yellow);
    });

    it("until that was ten minutes ago, though nothing else comes", async () => {
      observed.deploy();
      observed.refuse();
      mock.timers.tick(8 * minute);
      times(4, () => observed.refuse());
      (await shown()).should.match(yellow);
      mock.timers.tick(2 * minute);
      (await shown()).should.startWith("green");
    });

    it("and not where replies go wrong to what was accepted", async () => {
      observed.deploy();
      times(9, () => observed.refuse(problems.unforeseen, "it broke", undefined, undefined));
      observed.accept();
      (await shown()).should.startWith("green");
    });
  });

  describe("is yellow while the flow always fails:", () => {
    const yellow = /^yellow .*status.allFailing/;

    it("three attempts in a row with guaranteed delivery, until one succeeds", async () => {
      observed.deploy({ isGuaranteed: true });
      observed.fail("a", 1);
      observed.fail("a", 2);
      (await shown()).should.startWith("green");
      observed.fail("b", 1);
      (await shown()).should.match(yellow);
      mock.timers.tick(60 * minute);
      (await shown()).should.match(yellow);
      observed.succeed("b");
      (await shown()).should.startWith("green");
    });

    it("three flows in a row without it, until one fails with nothing for ten seconds", async () => {
      observed.deploy();
      for (const id of ["a", "b", "c"]) {
        observed.accept(id);
        mock.timers.tick(5000);
        observed.fail(id);
      }
      (await shown()).should.match(yellow);
      mock.timers.tick(60 * minute);
      (await shown()).should.match(yellow);
      observed.accept("d");
      (await shown()).should.match(yellow);
      mock.timers.tick(10_000);
      (await shown()).should.startWith("green");
    });

    it("not where one of several succeeds", async () => {
      observed.deploy();
      for (const id of ["b", "c", "d", "e", "f"]) observed.accept(id);
      mock.timers.tick(10_000);
      for (const id of ["b", "d"]) observed.fail(id);
      (await shown()).should.startWith("green");
    });
  });

  it("is blue while the node is paused, with the number that waits", async () => {
    observed.deploy({ isGuaranteed: true, breaker: 5 });
    observed.load({ queued: 2, retrying: 1, pause: "manual" });
    (await shown()).should.equal("blue status.paused 3 · status.open /hook 0 0");
    observed.load({ queued: 2, pause: "breaker" });
    (await shown()).should.equal("blue status.breaker 5 2 · status.open /hook 0 0");
    observed.load({});
    (await shown()).should.startWith("green");
  });

  it("is not green while a full store takes small bodies and refuses large ones", async () => {
    observed.deploy({ isGuaranteed: true });
    for (let round = 0; round < 5; round++) {
      observed.outcomes.emit("store:down", { trouble: "full", cause: "" });
      mock.timers.tick(1000);
      observed.outcomes.emit("store:up");
      mock.timers.tick(40_000);
      (await shown()).should.equal("red status.store.full");
      observed.refuse(problems.storeTroubled);
      mock.timers.tick(40_000);
      (await shown()).should.equal("red status.store.full");
    }
    observed.accept();
    mock.timers.tick(20_000);
    (await shown()).should.startWith("green");
    const told = observed.log.filter((line) => line.includes("store."));
    told.map((line) => line.split(" ", 2).join(" ")).should.eql(["error store.full", "info store.restored"]);
  });

  it("of a node without guaranteed delivery does not know of the store", async () => {
    observed.deploy();
    observed.outcomes.emit("store:down", { trouble: "full", cause: "" });
    (await shown()).should.startWith("green");
  });
});
