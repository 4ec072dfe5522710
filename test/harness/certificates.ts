import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./package";

export interface CertifiedKey {
  /** In PEM, as the certificate is. */
  key: Buffer;
  certificate: Buffer;
  certificateFile: string;
}

/** Makes a key and a certificate that it has signed itself. */
export function createCertificate(...options: string[]): CertifiedKey {
  const folder = temporaryFolder("certificate");
  const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const files = ["-keyout", keyFile, "-out", certificateFile];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...options];
  execFileSync("openssl", args, { stdio: "ignore" });
  return { key: readFileSync(keyFile), certificate: readFileSync(certificateFile), certificateFile };
}
