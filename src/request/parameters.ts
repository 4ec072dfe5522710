// Parameters of a query or a form, by name.

/** Parameters by name; a repeated name has all of its values, in order. */
export type Parameters = Record<string, string | string[]>;

/**
 * Makes a flat object of parameters. `__proto__` is left out: Node-RED's copying of messages would turn it
 * into the real prototype.
 */
export function toObject(parameters: Iterable<[name: string, value: string]>): Parameters {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of parameters) {
    const earlier = values.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else values.set(name, earlier === undefined ? value : [earlier, value]);
  }
  values.delete("__proto__");
  return Object.fromEntries(values);
}
