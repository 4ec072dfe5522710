// Times, as the user of the editor writes them.

/** The time, and the day as well where that is not today. */
export function timeOf(at: number): string {
  const date = new Date(at);
  const time: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  if (date.toDateString() === new Date().toDateString()) return date.toLocaleTimeString(undefined, time);
  return date.toLocaleString(undefined, { ...time, day: "numeric", month: "short" });
}
