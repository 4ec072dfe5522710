/**
 * Writes the rows of the form from the tables of its fields: static ones, since Node-RED fills them in before it calls the node.
 *
 * @typedef {import("../../../src/config/fields").FormRow & { default?: unknown, type?: string }} Row
 * @typedef {{ hint: object, placeholder: object }} Texts of the catalog
 */

/**
 * @param {string} markup of the form. `<!-- row NAME -->` stands for the row of a field, and `<!-- rows SECTION -->` for
 *   all others of a section, in the order of the tables; `described by ID` adds what describes them besides their hints
 * @param {Readonly<Record<string, Row>>} fields
 * @param {Texts} texts
 */
export function writeRows(markup, fields, texts) {
  const named = [...markup.matchAll(/<!-- row (\w+)/g)].map(([, name]) => name);
  const placed = new Set();
  const places = /<!-- (rows?) (\w+)(?: described by ([\w-]+))? -->/g;
  /** @type {(whole: string, kind: string, place: string, described?: string) => string} */
  const write = (_, kind, place, described) => {
    const rows = Object.entries(fields).filter(([name, { section }]) =>
      kind === "row" ? name === place : section === place && !named.includes(name),
    );
    for (const [name] of rows) placed.add(name);
    return rows.map(([name, row]) => writeRow(name, row, texts, described)).join("\n");
  };
  const written = markup.replace(places, write);
  const missing = Object.keys(fields).filter((name) => fields[name]?.section !== undefined && !placed.has(name));
  if (missing.length > 0) throw new Error(`the form has no place for ${missing.join(", ")}`);
  return written;
}

/**
 * @param {string} name
 * @param {Row} row
 * @param {Texts} texts
 * @param {string} [described]
 */
function writeRow(name, row, texts, described) {
  const [id, message, hint] = ["node-input", "webhook-trigger-message", "webhook-trigger-hint"].map(
    (kind) => `${kind}-${name}`,
  );
  const describedBy = [message, hint, described].filter(Boolean).join(" ");
  const placeholder = name in texts.placeholder ? ` data-i18n="[placeholder]placeholder.${name}"` : "";
  const isBeside = ["boolean", "number"].includes(typeof row.default);
  const hintText = name in texts.hint ? ` data-i18n="hint.${name}"` : "";
  const element = isBeside ? "span" : "div";
  const explanations = [
    `<div class="webhook-trigger-message" id="${message}" role="status"></div>`,
    `<${element} class="webhook-trigger-hint" id="${hint}"${hintText}></${element}>`,
  ];
  return `<div class="form-row">
<label for="${id}"><i class="fa fa-fw fa-${row.icon}"></i> <span data-i18n="label.${name}"></span></label>
${writeControl(name, row, `id="${id}" aria-describedby="${describedBy}"${placeholder}`)}
${(isBeside ? explanations.reverse() : explanations).join("\n")}
</div>`;
}

/**
 * @param {string} name
 * @param {Row} row
 * @param {string} attributes
 */
function writeControl(name, { default: usual, type, lines, options }, attributes) {
  if (typeof usual === "boolean") return `<input type="checkbox" ${attributes} />`;
  if (options) {
    const list = options.map((option) => `<option value="${option}" data-i18n="${name}.${option}"></option>`);
    return `<select ${attributes}>${list.join("")}</select>`;
  }
  if (lines !== undefined) return `<textarea ${attributes} rows="${lines}"></textarea>`;
  if (typeof usual === "number")
    return `<input type="text" inputmode="decimal" class="webhook-trigger-short" ${attributes} />`;
  if (type !== "password") return `<input type="text" autocomplete="off" ${attributes} />`;
  return `<div class="webhook-trigger-credential"><input type="password" autocomplete="new-password" ${attributes} /><span id="webhook-trigger-buttons-${name}"></span></div>`;
}
