import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { KeptPublications, keptFileName } from "../../../src/auth/published";
import { temporaryFolder } from "../../harness/package";
import { until } from "../../harness/until";

const url = "https://issuer.example/keys";

describe("published certificates and key sets that are kept", () => {
  let folder: string;
  let file: string;
  let reports: string[];
  const open = () => new KeptPublications(folder, (path, error) => reports.push(`${path}: ${String(error)}`));
  const read = () => readFileSync(file, "utf8");

  beforeEach(() => {
    folder = temporaryFolder("kept");
    file = join(folder, keptFileName);
    reports = [];
  });

  it("are there after a restart, in a file that nobody else can read", async () => {
    open().keep(url, { text: "one", fetchedAt: 1 });
    await until(() => existsSync(file), "the file");
    (statSync(file).mode & 0o777).should.equal(process.platform === "win32" ? 0o666 : 0o600);
    should(open().get(url)).eql({ text: "one", fetchedAt: 1 });
    reports.should.eql([]);
  });

  it("are the last ones, however fast they change", async () => {
    const kept = open();
    for (let count = 1; count <= 100; count++) kept.keep(url, { text: `text ${count}`, fetchedAt: count });
    await until(() => existsSync(file) && read().includes("text 100"), "the last one");
    should(open().get(url)).eql({ text: "text 100", fetchedAt: 100 });
  });

  it("are none where the file is damaged or too long, which is replaced with the next one", async () => {
    const cut = '{"https://a.example/":{"text":"one","fetc';
    const long = JSON.stringify({ [url]: { text: "x".repeat(5_000_000), fetchedAt: 1 } });
    for (const damaged of ["", cut, "null", "[]", "1", '{"__proto__":1}', "\0".repeat(100), long]) {
      writeFileSync(file, damaged);
      const kept = open();
      should(kept.get(url)?.fetchedAt).be.undefined();
      should(kept.get("__proto__")).be.undefined();
      kept.keep(url, { text: "new", fetchedAt: 1 });
      await until(() => read().includes("new"), "the new file");
    }
    reports.should.eql([]);
  });

  it("are those that are whole where others are damaged", () => {
    const others = { a: null, b: 1, c: {}, d: { text: 1, fetchedAt: 1 }, e: { text: "x" }, f: ["x"] };
    writeFileSync(file, JSON.stringify({ ...others, [url]: { text: "whole", fetchedAt: 2 } }));
    const kept = open();
    for (const name of Object.keys(others)) should(kept.get(name)).be.undefined();
    should(kept.get(url)).eql({ text: "whole", fetchedAt: 2 });
  });

  it("stay in memory where there is no file to be had, which is reported once", async () => {
    folder = join(folder, "missing");
    const kept = open();
    for (let count = 1; count <= 5; count++) {
      kept.keep(url, { text: "one", fetchedAt: count });
      await until(() => reports.length > 0, "the report");
    }
    should(kept.get(url)).eql({ text: "one", fetchedAt: 5 });
    // It is written as soon as it can be.
    mkdirSync(folder);
    file = join(folder, keptFileName);
    kept.keep(url, { text: "one", fetchedAt: 6 });
    await until(() => existsSync(file), "the file");
    reports.should.have.length(1);
    reports[0]?.should.startWith(`${file}: Error: ENOENT`);
  });

  it("stay in memory where a folder is in the file's place, until it is gone; each time is reported", async () => {
    mkdirSync(file);
    const kept = open();
    should(kept.get(url)).be.undefined();
    reports.should.have.length(1);
    kept.keep(url, { text: "one", fetchedAt: 1 });
    should(kept.get(url)).eql({ text: "one", fetchedAt: 1 });
    rmdirSync(file);
    kept.keep(url, { text: "two", fetchedAt: 2 });
    await until(() => existsSync(file) && read().includes("two"), "the file");
    reports.should.have.length(1);
    rmSync(file);
    mkdirSync(file);
    kept.keep(url, { text: "three", fetchedAt: 3 });
    await until(() => reports.length === 2, "another report");
  });

  it("take a megabyte at most, of which the oldest goes first, and one text an eighth of it", () => {
    const kept = new KeptPublications();
    const text = "x".repeat(100_000);
    for (let count = 0; count < 20; count++) kept.keep(`${url}/${count}`, { text, fetchedAt: count });
    const left = Array.from({ length: 20 }, (_, count) => count).filter((count) => kept.get(`${url}/${count}`));
    left.should.eql([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    kept.keep(`${url}/long`, { text: text + text, fetchedAt: 20 });
    should(kept.get(`${url}/long`)).be.undefined();
  });
});
