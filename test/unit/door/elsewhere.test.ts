import "should";
import { channel } from "node:diagnostics_channel";
import type { NodeAPI } from "node-red";
import { Elsewhere } from "../../../nodes/door/elsewhere";
import type { Delivery } from "../../../src/deliveries/delivery";
import type { Endpoint } from "../../../src/endpoint";
import { Endpoints } from "../../../src/endpoints";
import { mostRefusedASecond } from "../../../src/records";

/** Endpoints that count how often all their paths are looked through. */
class Asked extends Endpoints<Endpoint> {
  times = 0;

  override get keys(): Iterable<string> {
    this.times++;
    return super.keys;
  }
}

/** A Node-RED, as far as it is asked, that was loaded once more. */
function loaded(server: object) {
  const noted: Delivery[] = [];
  const endpoints = new Asked();
  const RED = { server, httpNode: {}, settings: {}, util: { generateId: () => "id" } } as unknown as NodeAPI;
  const note = (delivery: Delivery) => noted.push(delivery);
  new Elsewhere(RED, { endpoints, isConfigured: () => false, addressOf: () => "127.0.0.1", note }).watch();
  return { noted, endpoints };
}

function refuse(server: object, url = "/nobody", statusCode = 404): void {
  const request = { method: "POST", url, rawHeaders: [], headers: {} };
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

  it("are noted though others were answered in another way before", () => {
    const server = {};
    const { noted } = loaded(server);
    for (let number = 0; number <= mostRefusedASecond; number++) refuse(server, "/other", 401);
    refuse(server);
    noted.should.have.length(1);
  });

  it("are noted once, however often the package was loaded", () => {
    const server = {};
    const [first, last] = [loaded(server), loaded(server)];
    refuse(server);
    [first.noted.length, last.noted.length].should.eql([0, 1]);
  });
});
