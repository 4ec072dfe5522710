// Lines for a shell.

/**
 * Quotes an argument for a shell. Double quotes do for the shells of all systems, unless a character means something
 * within them; single quotes take all but themselves as it stands, but only where the shell is a POSIX one.
 */
export function quoted(argument: string): string {
  return /["$%`!\\]/.test(argument) ? quotedAsItIs(argument) : `"${argument}"`;
}

/** Quotes an argument for a POSIX shell so that anything may be put into it, but a single quote. */
export function quotedAsItIs(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
