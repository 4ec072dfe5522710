import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificate } from "./certificates";

/** A server by https, as those of issuers, with a certificate of its own. */
export interface Publisher {
  origin: string;
  /** For a Node.js that is to trust it: `NODE_EXTRA_CA_CERTS`. */
  certificateFile: string;
  /** Handles the requests that are still to come. */
  handle: RequestListener;
  /** How many requests came. */
  count: number;
  close(): void;
}

export async function startPublisher(): Promise<Publisher> {
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const { key, certificate, certificateFile } = createCertificate(...names);
  const server = createServer({ key, cert: certificate });
  const publisher: Publisher = {
    origin: "",
    certificateFile,
    handle: (_request, response) => response.writeHead(404).end(),
    count: 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  server.on("request", (request, response) => {
    publisher.count++;
    publisher.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  publisher.origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return publisher;
}
