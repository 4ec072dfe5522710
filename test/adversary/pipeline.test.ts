import { afterReply } from "../harness/http";
import { authorised, besiege, head, last, post, withstand } from "../harness/siege";

const long = "x".repeat(1_000_000);

/** RFC 9112 §9.3.2: a server sends the responses in the order of the requests. */
besiege("requests that do not wait for replies", (siege) => {
  withstand(siege, [
    {
      name: "100 requests at once, in their order",
      sends: [...Array.from({ length: 99 }, (_, index) => post(`${index}`)).flat(), ...post("99", last)],
      statuses: Array.from({ length: 100 }, () => 200),
      payloads: Array.from({ length: 100 }, (_, index) => `${index}`),
    },
    {
      name: "refused and chunked requests between others",
      sends: [
        ...post("1"),
        ...[head("POST", "/hook", "Content-Length: 1000"), "2".repeat(1000)],
        ...post("{", "Content-Type: application/json"),
        ...[head("PUT", "/hook", "Content-Length: 1"), "x"],
        ...[head("POST", "/other", authorised, "Content-Length: 1"), "x"],
        ...post("6", "Content-Encoding: compress"),
        ...[head("POST", "/hook", authorised, "Transfer-Encoding: chunked"), "1\r\n7\r\n0\r\nX: y\r\n\r\n"],
        ...post("8", last),
      ],
      statuses: [200, 401, 400, 405, 404, 415, 200, 200],
      payloads: ["1", "7", "8"],
    },
    {
      name: "requests after the last one, which are dropped (RFC 9112 §9.6)",
      sends: [...post("1", last), afterReply, ...post("2"), ...post("3")],
      statuses: [200],
      payloads: ["1"],
    },
    {
      name: "requests after a refused one with an unread body, which ends the connection (RFC 9112 §9.6)",
      sends: [...post("1"), head("POST", "/hook", `Content-Length: ${long.length}`), long, ...post("3")],
      statuses: [200, 401],
      payloads: ["1"],
    },
  ]);
});
