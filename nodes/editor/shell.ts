// Lines for a shell.

/**
 * Quotes an argument for a shell. Double quotes do for the shells of all systems, unless a character means something
 * within them; single quotes take all but themselves as it stands, but only where the shell is a POSIX one.
 */
export function quoted(argument: string): string {
  return /["$%`!\\]/.test(argument) ? `'${argument.replaceAll("'", "'\\''")}'` : `"${argument}"`;
}
