/** A part of a form, as its sender has it. */
export interface SentPart {
  /** The parameters and fields of its head, as they are written. */
  disposition: string;
  headers?: readonly string[];
  content: Buffer | string;
}

/** Writes a form as RFC 7578 says. */
export function formOf(parts: readonly SentPart[], boundary = "b"): Buffer {
  const written = parts.map(({ disposition, headers = [], content }) => {
    const head = [`--${boundary}`, `Content-Disposition: form-data${disposition}`, ...headers, "", ""].join("\r\n");
    return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from("\r\n")]);
  });
  return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)]);
}

export function typeOf(boundary = "b"): string {
  return `multipart/form-data; boundary="${boundary}"`;
}
