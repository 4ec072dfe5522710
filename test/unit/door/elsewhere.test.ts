import should from "should";
import { channel } from "node:diagnostics_channel";
import type { NodeAPI } from "node-red";
import { Elsewhere } from "../../../nodes/door/elsewhere";
import type { Delivery } from "../../../src/deliveries/delivery";
import type { Endpoint } from "../../../src/endpoint";
import { Endpoints } from "../../../src/endpoints";
import { mostRefusedASecond } from "../../../src/records";
import { Budget } from "../../../src/request/budget";
import { Secrecy } from "../../../src/trust/secrecy";

type Asks = Pick<Secrecy, "tells" | "names">;

/** Endpoints that count how often all their paths are looked through. */
class Asked extends Endpoints<Endpoint> {
  times = 0;

  override get keys(): Iterable<string> {
    this.times++;
    return super.keys;
  }
}

/** A Node-RED, as far as it is asked, that was loaded once more. */
function loaded(server: object, secrets: Asks[] = []) {
  const noted: Delivery[] = [];
  const counted: string[] = [];
  const endpoints = new Asked();
  for (const [index, secrecy] of secrets.entries()) open(endpoints, `/hooks/number-${index}`, `${index}`, [], secrecy);
  const RED = { server, httpNode: {}, settings: {}, util: { generateId: () => "id" } } as unknown as NodeAPI;
  const tell = { note: (delivery: Delivery) => noted.push(delivery), count: (node: string) => counted.push(node) };
  new Elsewhere(RED, { endpoints, isConfigured: () => false, addressOf: () => "127.0.0.1", ...tell }).watch();
  return { noted, counted, endpoints };
}

/** Opens an endpoint whose sender may ask something by these methods. */
function open(
  endpoints: Endpoints<Endpoint>,
  path: string,
  owner: string,
  methods: string[] = [],
  secrecy: Asks = new Secrecy([]),
): void {
  const endpoint = { gate: { secrecy, methods } } as unknown as Endpoint;
  endpoints.enter(path, { owner, endpoint, onTurn: () => undefined, onWait: () => undefined });
}

function refuse(server: object, url = "/nobody", statusCode = 404, method = "POST"): void {
  const request = { method, url, rawHeaders: [], headers: {} };
  channel("http.server.response.finish").publish({ request, response: { statusCode }, server });
}

describe("requests that reach no endpoint", () => {
  it("are looked into no more often than they are noted", () => {
    const server = {};
    const { noted, endpoints } = loaded(server);
    for (let number = 0; number < 1000; number++) refuse(server);
    noted.length.should.be.above(0);
    endpoints.times.should.equal(noted.length);
    noted.length.should.be.below(1000);
  });

  it("are counted all, for the node whose path they have", () => {
    const server = {};
    const { counted, endpoints } = loaded(server);
    open(endpoints, "/hook", "n");
    for (let number = 0; number < 1000; number++) refuse(server);
    for (let number = 0; number < 1000; number++) refuse(server, "/hook", 401);
    counted.filter((node) => node === "").should.have.length(1000);
    counted.filter((node) => node === "n").should.have.length(1000);
  });

  it("are noted, by whatever method, where a sender asks by that at a path that is like theirs, and nowhere else", () => {
    const server = {};
    const { noted, counted, endpoints } = loaded(server);
    open(endpoints, "/verified", "asked", ["GET"]);
    open(endpoints, "/orders", "posted");
    for (const url of ["/favicon.ico", "/ordres", "/orders", "/"]) refuse(server, url, 404, "GET");
    refuse(server, "/orders", 401, "GET");
    refuse(server, "/verifed", 404, "HEAD");
    noted.should.eql([]);
    refuse(server, "/verifed?hub.challenge=1", 404, "GET");
    refuse(server, "/verified", 401, "GET");
    const told = noted.map(({ node, head, problem }) => [node, head.method, problem]);
    told.should.eql([["asked", "GET", "noEndpoint"], ["asked", "GET", "inFront"]]); // prettier-ignore
    counted.should.eql(["asked", "asked"]);
    for (let number = 0; number < 1000; number++) refuse(server, "/favicon.ico", 404, "GET");
    refuse(server);
    counted.should.eql(["asked", "asked", ""]);
  });

  it("are noted though others were answered in another way before", () => {
    const server = {};
    const { noted } = loaded(server);
    for (let number = 0; number <= mostRefusedASecond; number++) refuse(server, "/other", 401);
    refuse(server);
    noted.should.have.length(1);
  });

  it("have all endpoints look for their secrets with one budget, however many there are", () => {
    const server = {};
    const budgets = new Set<Budget | undefined>();
    const secrecy = { tells: (_: string, budget?: Budget) => !budgets.add(budget), names: () => false };
    const { noted } = loaded(
      server,
      Array.from({ length: 150 }, () => secrecy),
    );
    refuse(server, "/&amp;/&amp;");
    noted.map(({ head }) => head.path).should.eql(["/&amp;/&amp;"]);
    [...budgets].should.have.length(1);
    should([...budgets][0]).be.instanceOf(Budget);
  });

  it("show no path with a secret of any endpoint, whichever was meant", () => {
    const [server, secret] = [{}, "abcd/efghij/klmnopqrst/uvwxyz/ABCDEF/GHIJ"];
    const { noted } = loaded(server, [new Secrecy(["another one, of eight or more"]), new Secrecy([secret])]);
    for (const path of [
      `/hooks/number-0/${secret}`,
      `/${secret}`,
      `/${"x/".repeat(90)}${secret}`,
      "/hooks/number-00",
    ]) {
      refuse(server, path);
    }
    noted.map(({ head }) => head.path).should.eql(["/…", "/…", "/…", "/hooks/number-00"]);
    noted.at(-1)?.node.should.equal("0");
  });

  it("are noted once, however often the package was loaded", () => {
    const server = {};
    const [first, last] = [loaded(server), loaded(server)];
    refuse(server);
    [first.noted.length, last.noted.length].should.eql([0, 1]);
  });
});
