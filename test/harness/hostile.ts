import type { Sender, Source } from "../../src/auth/senders/sender";

/** What a pattern or a loop that goes back and forth over a text takes long for, in about so many characters. */
export function hostileTexts(length: number): Readonly<Record<string, string>> {
  const filled = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  return {
    "blanks inside": `a${filled(" ")}b`,
    "blanks inside an item that begins with one": `, a${filled(" ")}b`,
    "blanks inside an item behind a semicolon": `; a${filled(" ")}b`,
    "tabs inside": `a${filled("\t")}b`,
    "tabs inside an item that begins with one": ` \ta${filled("\t")}b`,
    "blanks and tabs before an item": `a, ${filled(" \t")}b ,c`,
    "items of one letter": filled("a,"),
    "items and blanks": filled("a, "),
    "commas": filled(","),
    "semicolons": filled(";"),
    "equal pairs": filled("a=b,"),
    "equal pairs by semicolons": filled("a=b;"),
    "equals signs inside": `${filled("=")}a`,
    "quotes": filled('"'),
    "quoted pairs": filled('a="\\"",'),
    "digits": filled("1"),
    "hexadecimal digits": filled("f0"),
    "letters of base64": filled("Az+/"),
    "percent signs": filled("%"),
    "escapes": filled("%41%20"),
    "brackets": filled("["),
    "parentheses and braces": filled("({"),
    "dots": filled("."),
    "colons": filled(":"),
    "slashes": filled("/"),
    "backslashes": filled("\\"),
    "ampersands": filled("a=b&"),
    "plus signs and hyphens": filled("+-"),
    "characters beyond ASCII": filled("\xe9\xff"),
  }; // prettier-ignore
}

/** Forms for which a parser takes long: their fields have no value, or nothing but characters to replace. */
export function hostileForms(length: number): readonly string[] {
  const filled = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  const units = ["a&", "&", "a=&", "=&", "%41&", "%ff&", "%&", "+&"];
  return [
    ...units.map((unit) => `b=&${filled(unit)}`),
    ...["%41", "%ff", "%", "+", "="].map((unit) => `b=${filled(unit)}`),
  ];
}

/** The header fields that a node reads for a sender, with the beginning of the value that it expects there. */
export function fieldsReadFor({
  scheme,
  id,
  events = [],
  handshakes = [],
  recognise = [],
}: Sender): Map<string, string> {
  const { sig, content, ts, requires = {} } = scheme;
  const fields = new Map<string, string>();
  const add = (name: string, beginning = "") => {
    const known = [...fields.keys()].find((each) => each.toLowerCase() === name.toLowerCase());
    if (known === undefined) fields.set(name, beginning);
  };
  const addSource = (source: Source) => {
    if (source.startsWith("header:")) add(source.slice("header:".length));
  };
  const { pick } = sig;
  const time = ts?.source.startsWith("sig:") ? `${ts.source.slice(4)}=1${[sig.split].flat()[0]}` : "";
  // Of many that are alike, two.
  const fieldNames = sig.headers.filter((_, place) => place === 0 || place === sig.headers.length - 1);
  for (const name of fieldNames) add(name, pick ? time + ("kv" in pick ? `${pick.kv}=` : pick.prefix) : "");
  for (const source of [...content, ...(id?.from ?? []), ...(ts ? [ts.source] : []), ...events]) {
    addSource(source);
  }
  for (const { when, restrict = [] } of handshakes) for (const [source] of [...when, ...restrict]) addSource(source);
  for (const name of Object.keys(requires)) add(name);
  for (const group of recognise) for (const [name, beginning] of Object.entries(group)) add(name, beginning);
  return fields;
}

const dashes = "-".repeat(70);

/** Forms with files for which a parser takes long, each with its type. */
export function hostileParts(length: number): readonly (readonly [type: string, body: string])[] {
  const filled = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  const beginning = (boundary: string) => `--${boundary}\r\nContent-Disposition: form-data; name="signature"`;
  const type = (boundary: string) => `multipart/form-data; boundary=${boundary}`;
  const contents = ["a", "\r\n", "\r\n--", "\r\n--b", "\r\n--b ", "\xff", "\xe9\xff", "%41", "\r\n\r\n"].map(
    (unit) => `\r\n\r\n${filled(unit)}`,
  );
  const heads = ["a: b\r\n", "a", ":", ";", ";a=", '"', "\\", " ", "\t", "%41"].map((unit) => `; ${filled(unit)}`);
  const bodies = [filled("--b\r\n"), filled("\r\n--b\r\n\r\n"), ...[...contents, ...heads].map((rest) => beginning("b") + rest)];
  const alike = `${beginning(dashes)}\r\n\r\n${filled(`\r\n--${dashes.slice(1)}`)}`;
  return [
    ...bodies.map((body) => [type("b"), `${body}\r\n--b--\r\n`] as const),
    [type(dashes), `${alike}\r\n--${dashes}--\r\n`],
  ];
} // prettier-ignore
