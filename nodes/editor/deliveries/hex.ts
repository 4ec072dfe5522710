// Bytes as a hex dump.

const perLine = 16;

/**
 * Writes bytes as `hexdump -C` does, a line for 16 of them.
 *
 * @param from where it begins, a multiple of 16
 * @param to where it ends
 */
export function hexDump(bytes: Uint8Array, from: number, to: number): string {
  const lines: string[] = [];
  for (let at = from; at < Math.min(to, bytes.length); at += perLine) {
    const line = [...bytes.subarray(at, Math.min(at + perLine, to))];
    const digits = line.map((byte) => byte.toString(16).padStart(2, "0"));
    const halves = [digits.slice(0, perLine / 2), digits.slice(perLine / 2)].map((half) => half.join(" "));
    const text = line.map((byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${halves.join("  ").padEnd(3 * perLine)}  |${text}|\n`);
  }
  return lines.join("");
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
