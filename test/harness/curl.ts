import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./package";

export interface CurlReply {
  status: number;
  json: Record<string, unknown>;
}

/**
 * Pastes lines into a real shell as they stand. The last one is a curl, which is asked for the status behind its back.
 *
 * @param more further options for that curl, as its configuration file takes them
 */
export async function paste(lines: string[], more = ""): Promise<CurlReply> {
  const home = temporaryFolder("curl");
  try {
    writeFileSync(join(home, ".curlrc"), String.raw`write-out = "\n%{http_code}"` + `\nsilent\nshow-error\n${more}`);
    const env = { ...process.env, CURL_HOME: home };
    const { stdout } = await promisify(execFile)("sh", ["-c", lines.join("\n")], { env });
    const [, body = "", status = ""] = /^([^]*)\n(\d+)$/.exec(stdout) ?? [];
    const json = (body.startsWith("{") ? JSON.parse(body) : {}) as Record<string, unknown>;
    return { status: Number(status), json };
  } finally {
    rmSync(home, { recursive: true });
  }
}
