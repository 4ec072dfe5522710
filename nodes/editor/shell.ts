// Arguments of commands, quoted for a shell.

/**
 * Quotes an argument for a shell: double quotes work in all shells, unless a character has a meaning in them; single
 * quotes need a POSIX shell.
 */
export function quote(argument: string): string {
  return /["$%`!\\]/.test(argument) ? quoteLiteral(argument) : `"${argument}"`;
}

/** curl takes brackets and braces for several URLs, and removes dots that are segments of a path. */
export function listUrlOptions(url: string): string[] {
  const [path = "", query = ""] = url.replace(/^\w+:\/\/[^/?]*/, "").split(/\?([^]*)/);
  return [
    ...(/[[\]{}]/.test(path + query) ? ["--globoff"] : []),
    ...(/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path) ? ["--path-as-is"] : []),
  ];
}

/** However many bytes there are: a function takes some 100,000 arguments. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** For a POSIX shell. */
export function quoteLiteral(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
