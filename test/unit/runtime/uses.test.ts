import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import should from "should";
import { usesFileName } from "../../../src/admin/uses";
import { Observed } from "../../harness/observed";
import { temporaryFolder } from "../../harness/package";

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;

describe("when the tokens of callers were last used", () => {
  let folder: string;
  let file: string;
  let observed: Observed;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: start });
    folder = temporaryFolder("uses");
    file = join(folder, usesFileName);
    observed = new Observed(folder);
  });
  afterEach(() => mock.timers.reset());

  const restart = async () => {
    await observed.observers.uses.write();
    observed = new Observed(folder);
  };
  /** In minutes after the start; `null` for never. */
  const shown = () =>
    Object.fromEntries(Array.from(observed.observers.uses.of("node"), ([name, { lastUsedAt }]) => [String(name), lastUsedAt === undefined ? null : (lastUsedAt - start) / minute])); // prettier-ignore
  const deploy = (...callers: string[]) => observed.deploy({ callers });

  it("is known after deploys and restarts, of a token by any name, and not of removed and new tokens", async () => {
    deploy("one", "two", "three");
    mock.timers.tick(minute);
    observed.call("one");
    mock.timers.tick(minute);
    for (const caller of ["two", "nobody"]) observed.call(caller);
    should(shown()).eql({ one: 1, two: 2, three: null });
    for (const between of [() => undefined, restart]) {
      await between();
      deploy("three", "uno:one", "two:new");
      should(shown()).eql({ three: null, uno: 1, two: null });
      deploy("one", "two");
      should(shown()).eql({ one: 1, two: null });
      observed.call("two");
    }
  });

  it("is written once a minute where tokens are used, without a token or a digest, for its owner alone", async () => {
    deploy("one");
    mock.timers.tick(minute);
    while (!existsSync(file)) await turn();
    const read = () => readFileSync(file, "utf8");
    const unused = read();
    unused.should.match(new RegExp(`^{"node":\\[{"key":"[0-9a-f]{16}","since":${start}}\\]}$`));
    observed.call("one");
    mock.timers.tick(minute - 1);
    for (let count = 0; count < 100; count++) await turn();
    read().should.equal(unused);
    mock.timers.tick(1);
    while (read() === unused) await turn();
    read().should.equal(unused.replace("}]", `,"lastUsedAt":${start + minute}}]`));
    (statSync(file).mode & 0o777).should.equal(process.platform === "win32" ? 0o666 : 0o600);
  });

  it("is written at once where nothing was for a minute, so that a crash does not lose the only use of a day", async () => {
    deploy("one");
    mock.timers.tick(minute);
    while (!existsSync(file)) await turn();
    const unused = readFileSync(file, "utf8");
    mock.timers.tick(minute);
    observed.call("one");
    mock.timers.tick(1);
    for (let count = 0; count < 1000 && readFileSync(file, "utf8") === unused; count++) await turn();
    readFileSync(file, "utf8").should.match(new RegExp(`"lastUsedAt":${start + 2 * minute}}`));
  });

  it("is forgotten with its node, and no file is written where there never were callers", async () => {
    deploy();
    await restart();
    existsSync(file).should.equal(false);
    deploy("one");
    observed.call("one");
    await restart();
    observed.delete();
    deploy("one");
    should(shown()).eql({ one: null });
  });

  it("is unknown where the file is damaged, of the future at most now, and a file that cannot be had is reported once", async () => {
    deploy("one");
    await observed.observers.uses.write();
    const whole = readFileSync(file, "utf8");
    const withUse = (at: string) => whole.replace("}]", `,"lastUsedAt":${at}}]`);
    const shapes = ["[1]", '{"node":1}', '{"node":[1,{"key":1,"since":1},{"key":"1"}]}'];
    for (const damaged of [
      "",
      whole.slice(0, -1),
      ...shapes,
      withUse('"1"'),
      withUse("1e400"),
      withUse("-1"),
      withUse("8640000000000001"),
    ]) {
      writeFileSync(file, damaged);
      observed = new Observed(folder);
      deploy("one");
      should([damaged, shown()]).eql([damaged, { one: null }]);
    }
    writeFileSync(file, withUse(`${start + 5 * minute}`));
    observed = new Observed(folder);
    deploy("one");
    should(shown()).eql({ one: 0 });
    rmSync(file);
    mkdirSync(file);
    observed = new Observed(folder);
    deploy("one");
    observed.call("one");
    await observed.observers.uses.write();
    should(shown()).eql({ one: 0 });
    observed.log.map((line) => line.split(" ", 3).join(" ")).should.eql([`warn settings.usesUnkept ${file}`]);
  });
});
