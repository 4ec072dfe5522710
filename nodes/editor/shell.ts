// Arguments of commands, quoted for a shell.

/**
 * Quotes an argument for a shell: double quotes work in all shells, unless a character has a meaning in them; single
 * quotes need a POSIX shell.
 */
export function quote(argument: string): string {
  return /["$%`!\\]/.test(argument) ? quoteLiteral(argument) : `"${argument}"`;
}

/** For a POSIX shell. */
export function quoteLiteral(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
