import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import should from "should";
import { listUrlOptions, quote } from "../../../nodes/editor/shell";
import { paste } from "../../harness/curl";

describe("a curl line", () => {
  const server = createServer(({ url }, response) => response.end(JSON.stringify({ url })));
  before((done) => void server.listen(0, "127.0.0.1", done));
  after((done) => void server.close(done));

  for (const path of ["/[1-5]/state", "/{a,b}/state", "/?of={a,b}", "/../state", "/%2e", "/..", "/plain"]) {
    it(`is one request to the same path, where curl would take it for several or another one: ${path}`, async () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/devices${path}`;
      const line = ["curl", ...listUrlOptions(url), quote(url)].join(" ");
      should((await paste([line])).json).eql({ url: `/devices${path}` });
    });
  }
});
