// What the browser keeps for the page. Where it keeps nothing, that lasts as long as the page.

const unkept = new Map<string, string>();

export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? unkept.get(key);
  } catch {
    return unkept.get(key);
  }
}

/** @param value missing: it is forgotten */
export function keep(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
    unkept.delete(key);
  } catch {
    if (value === undefined) unkept.delete(key);
    else unkept.set(key, value);
  }
}
