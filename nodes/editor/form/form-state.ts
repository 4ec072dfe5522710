// The state of the form: read once per event, by the rules of the runtime, and shown by each part of the form. Node-RED
// fills and reads the controls of fields by their ids, so their rows are static, and jQuery reads and sets them as in each
// of its forms; all that follows from their values is drawn by Preact, as functions of the state.

import type { NodeReport } from "../../../src/admin/node-health";
import { readSecret, schemeForSecret, type Sender, type Settings } from "../../../src/auth/senders/sender"; // prettier-ignore
import { findJwtPreset, findSender, isRecipeId } from "../../../src/auth/senders/table";
import { parseScheme, settleScheme } from "../../../src/auth/signature/scheme";
import { findUnreadable } from "../../../src/config/blocks";
import {
  boxFields,
  type BrokenRule,
  choiceFields,
  type CredentialName,
  credentialNames,
  credentials,
  defaults,
  fieldNames,
  fields,
  flowMethods,
  type FormRow,
  hashes,
  identityRule,
  needsValue,
  type Operator,
  rules,
  type SavedCondition,
  type SavedFields,
  settingNames,
  settings,
  withDefaults,
} from "../../../src/config/fields";
import {
  isEnvironmentValue,
  isObject,
  isTrue,
  parseNumber,
  text as textOf,
  tryParseJson,
} from "../../../src/config/values";
import { composePublicUrl, isAdminPath, parseBaseUrl } from "../../../src/config/paths";
import { text } from "../deliveries/texts";
import { type EditorNode, type EditorNodeDefinition, RED, updateText, type Validator } from "../node-red";

export type WebhookNode = EditorNode & SavedFields;
export type Field = Exclude<keyof SavedFields, "senderSettings"> | CredentialName | keyof Settings;

/** Node-RED's placeholder for a saved password. */
export const keptPassword = "__PWRD__";

export function form(): JQuery {
  return $(document.getElementsByClassName("webhook-trigger-form") as HTMLCollectionOf<HTMLElement>);
}

type EnteredCredentials = Readonly<Record<CredentialName, string>>;

/** The open form as it was read at an event. */
export interface FormState {
  readonly node: WebhookNode;
  /** As the node has them, with the defaults of newer fields. */
  readonly saved: SavedFields;
  /** As they would be saved. */
  readonly values: SavedFields;
  /** As they are entered; a saved password is `keptPassword`. */
  readonly credentials: EnteredCredentials;
  /** Nothing without a sender, and for one from the environment. */
  readonly sender: Sender | undefined;
  /** The fields that are used with the values of the others. */
  readonly used: ReadonlySet<Field>;
  /** But for what is missing in `asked`. */
  readonly broken: ReadonlyMap<Field, BrokenRule>;
  /** The fields that are used only since the form is open, and that the user has not changed. */
  readonly asked: ReadonlySet<Field>;
  /** Whether callers have tokens, and the node has none of its own: it needs none. */
  readonly onlyCallers: boolean;
  /** The names of the sections that are open. */
  readonly open: ReadonlySet<string>;
  /** Of the node as it is deployed; empty where it is not. */
  readonly report: Partial<NodeReport>;
}

/**
 * @param before the state at the event before; missing while the form opens
 * @param touched what the user has changed
 */
export function readForm(node: WebhookNode, before?: FormState, touched?: Element): FormState {
  const saved = withDefaults(node);
  const values = readValues(saved);
  const entered = Object.fromEntries(credentialNames.map((name) => [name, inputValue(name)])) as EnteredCredentials;
  const used = findUsed(values);
  const isAsked = (field: Field) => before && (before.asked.has(field) || !before.used.has(field));
  const asked = new Set([...used].filter((field) => isAsked(field) && !input(field).is(touched ?? [])));
  const open = document.querySelectorAll(".webhook-trigger-section[open]");
  return {
    node,
    saved,
    values,
    credentials: entered,
    sender: findSender(values.sender),
    used,
    broken: new Map(findBroken({ values, credentials: entered, used, asked })),
    asked,
    onlyCallers: hasOnlyCallers(used, entered),
    open: new Set(Array.from(open, ({ id }) => id.replace("webhook-trigger-section-", ""))),
    report: getReport(),
  };
}

/** Empty for a setting that is not given. */
function getValue(values: SavedFields, field: Exclude<Field, CredentialName>): unknown {
  return isSetting(field) ? (values.senderSettings[field] ?? "") : values[field];
}

const stateKey = "state";

/** Shows a part of the form; what was shown before is missing while the form opens. */
type ShowPart = (state: FormState, before: FormState | undefined) => void;

/** Has each part of the form show the state of now. */
export function updateForm(node: WebhookNode, parts: readonly ShowPart[], touched?: Element): void {
  const before = form().data(stateKey) as FormState | undefined;
  const state = readForm(node, before, touched);
  form().data(stateKey, state);
  for (const show of parts) show(state, before);
}

/** Triggered on the form when something that it shows has changed outside of its fields. */
export const updateEvent = "webhook-trigger-update";

/** Node-RED fills and reads the fields with these ids, except those of scheme and of lists. */
export function input(field: Field): JQuery {
  if (field === "methods" || field === "events" || field === "conditions") return $(`#webhook-trigger-${field}`);
  return $(field === "scheme" ? "#node-input-scheme-text" : `#node-input-${field}`);
}

export function inputValue(field: Field): string {
  return String(input(field).val() ?? "");
}

/** The value of a field, or whether a checkbox is ticked. */
function fieldValue(field: Field): string | boolean {
  const [control] = input(field);
  return control instanceof HTMLInputElement && control.type === "checkbox" ? control.checked : inputValue(field);
}

export function findRow(field: Field): JQuery {
  return input(field).closest(".form-row");
}

function isSetting(field: Field): field is keyof Settings {
  return settingNames.some((name) => name === field);
}

function isCredential(field: Field): field is CredentialName {
  return credentialNames.some((name) => name === field);
}

/** Node-RED itself fills in and reads all others. */
const ownFields = ["methods", "events", "conditions", "scheme", "senderSettings"] as const;
type PlainField = Exclude<keyof SavedFields, (typeof ownFields)[number] | "outputs">;
const plainFields = fieldNames.filter((field): field is PlainField => ![...ownFields, "outputs"].includes(field));

/** All that have a row. */
const table = { ...fields, ...credentials, ...settings };
const rowFields = Object.keys(table).filter((name) => name !== "senderSettings" && name !== "outputs") as Field[];

function readValues(saved: SavedFields): SavedFields {
  const values = {
    ...saved,
    methods: methodsInForm(saved),
    ...filterInForm(saved),
    scheme: schemeInForm(saved),
    senderSettings: settingsInForm(saved),
  };
  for (const field of plainFields) {
    const value = fieldValue(field);
    // A ticked box equals the text `true`, and digits equal a number. A text is one, also where it was written by hand.
    if (typeof defaults[field] === "string" || String(saved[field]) !== String(value))
      Object.assign(values, { [field]: value });
  }
  return values;
}

/** The defaults of new nodes that the operator has set, which Node-RED has given to them. */
export function operatorDefaults(): Partial<SavedFields> {
  return RED.settings.nodeDefaults?.["webhook-trigger"] ?? {};
}

const filledIn = "filled-in";

/** Fills in the defaults of fields that are newer than the node, so that it does not count as changed. */
export function fillInDefaults(node: Partial<WebhookNode>): void {
  const missing = plainFields.filter((field) => node[field] === undefined);
  for (const field of missing) {
    Object.assign(node, { [field]: defaults[field] });
    input(field).val(String(defaults[field]));
  }
  form().data(filledIn, missing);
}

/** Leaves the node as it was before the form was opened. */
export function removeDefaults(node: WebhookNode): void {
  for (const field of form().data(filledIn) as PlainField[]) Reflect.deleteProperty(node, field);
}

/** Gives the node the fields that Node-RED does not read. */
export function saveOwnFields(node: WebhookNode): void {
  const { saved, values } = readForm(node);
  for (const field of ownFields) {
    if (!isSame(values[field], saved[field])) Object.assign(node, { [field]: values[field] });
  }
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A box for each method, ticked where the node accepts it. */
export function prepareMethods(node: WebhookNode): void {
  const saved = withDefaults(node).methods;
  for (const method of flowMethods) {
    const box = $("<input>", { type: "checkbox", value: method, checked: saved.includes(method) });
    input("methods").append($("<label>").append(box, method));
  }
  placeMethods(saved);
}

export function tickMethods(chosen: readonly string[]): void {
  for (const box of input("methods").find(":checkbox").toArray()) {
    $(box).prop("checked", chosen.includes(String($(box).val())));
  }
  placeMethods(chosen);
}

/** Most nodes need the usual ones alone; others are seen at once, as GET changes the message and what is given to the sender. */
function placeMethods(chosen: readonly string[]): void {
  if (!isSame(chosen, defaults.methods)) findRow("methods").insertAfter(findRow("relativePath"));
}

/** What is no method, such as an environment variable, stays. */
function methodsInForm({ methods: given }: SavedFields): readonly string[] {
  // A flow file may have been written by hand.
  const saved: string[] = [given].flat();
  const ticked = new Set(
    input("methods")
      .find(":checked")
      .toArray()
      .map((box) => String($(box).val())),
  );
  const others = saved.filter((each) => !flowMethods.some((method) => method === each));
  const chosen = [...flowMethods.filter((method) => ticked.has(method)), ...others];
  return isSame([...chosen].sort(), [...saved].sort()) ? given : chosen;
}

/** A flow file may have been written by hand. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Of a condition's place in its row. */
export const placeClass = "webhook-trigger-place";

/** The rows of a list, but for those that are being removed. */
export function listRows(list: "events" | "conditions"): JQuery[] {
  const rows = input(list).children(":not(.red-ui-editableList-item-deleting)");
  return rows.toArray().map((row) => $(row));
}

/** Empty rows are left out. */
function filterInForm(saved: SavedFields): Pick<SavedFields, "events" | "conditions"> {
  const valueOf = (control: JQuery) => String(control.val()).trim();
  const events = listRows("events")
    .map((row) => valueOf(row.find("input")))
    .filter((event) => event !== "");
  const conditions = listRows("conditions").flatMap((row): SavedCondition[] => {
    const place = row.find(`.${placeClass}`).typedInput("value").trim();
    const [operator, value] = [valueOf(row.find("select")) as Operator, valueOf(row.find(".webhook-trigger-value"))];
    if (place === "" && value === "") return [];
    return [needsValue(operator) ? { place, operator, value } : { place, operator }];
  });
  return {
    events: isSame(events, asList(saved.events).map(textOf)) ? saved.events : events,
    conditions: isSame(conditions.map(asTexts), asList(saved.conditions).map(asTexts)) ? saved.conditions : conditions,
  };
}

/** A number equals its text. */
function asTexts(condition: unknown): unknown {
  if (!isObject(condition)) return condition;
  const { place, operator, value } = condition;
  return [place, operator, needsValue(operator as Operator) ? textOf(value) : ""];
}

/** Anything but an object stays as typed. */
export function formatScheme(scheme: unknown): string {
  return typeof scheme === "object" && scheme !== null ? JSON.stringify(scheme, null, 2) : textOf(scheme);
}

/** A text where it is no JSON. Other senders' schemes stay unchanged. */
function schemeInForm({ scheme }: SavedFields): unknown {
  const typed = inputValue("scheme");
  if (inputValue("sender") !== "custom" || typed === formatScheme(scheme)) return scheme;
  const parsed = tryParseJson(typed.trim() === "" ? "null" : typed);
  return parsed === undefined ? typed : parsed;
}

/** With the settings of other senders, unchanged. */
function settingsInForm({ senderSettings }: SavedFields): Readonly<Record<string, unknown>> {
  const settings = new Map(Object.entries(senderSettings));
  for (const name of findSender(inputValue("sender"))?.settings ?? []) {
    if (name === "verifyToken") continue;
    const value = fieldValue(name);
    // A ticked box equals the text `true`.
    if (value && String(value) !== String(senderSettings[name])) settings.set(name, value);
    else if (!value && senderSettings[name]) settings.delete(name);
  }
  return Object.fromEntries(settings);
}

/** Fills in the fields that Node-RED does not fill in, or not as they are: it ticks a box for any text. */
export function fillInFields(node: WebhookNode): void {
  const saved = withDefaults(node);
  input("alg").append(new Option(text("alg.preset"), ""), ...hashes.map((hash) => new Option(hash)));
  for (const field of [...boxFields, ...choiceFields]) fillInField(field, saved[field]);
  for (const name of settingNames) fillInField(name, saved.senderSettings[name]);
  input("scheme").val(formatScheme(saved.scheme));
}

/**
 * A select cannot show unlisted values, nor a checkbox `${NAME}`: the select gets an option, the checkbox becomes a
 * text field.
 */
function fillInField(field: Field, value: unknown): void {
  const control = input(field);
  if (control.is(":checkbox") && !isEnvironmentValue(value)) {
    control.prop("checked", String(value) === "true");
    return;
  }
  if (control.is(":checkbox")) control.attr("type", "text");
  control.val(textOf(value));
  if (control.prop("selectedIndex") === -1) control.append(new Option(textOf(value))).val(textOf(value));
}

function getReport(): Partial<NodeReport> {
  return (form().data("report") ?? {}) as Partial<NodeReport>;
}

export function setReport(report: Partial<NodeReport> = {}): void {
  if (!isSame(report, getReport())) form().data("report", report).trigger(updateEvent);
}

// The rules.

/**
 * Says all that is wrong: the form itself shows where. The editor knows the credentials of a node only since it was edited;
 * what is not known is not checked.
 */
const validateNode: Validator<SavedFields> = function (_value, _options) {
  const { credentials: given } = this;
  const known = given
    ? credentialNames.map((name) => [name, given[name] || (given[`has_${name}`] && keptPassword) || ""])
    : [];
  const values = withDefaults(this);
  const entered = Object.fromEntries(known) as Partial<EnteredCredentials>;
  const broken = findBroken({ values, credentials: entered, used: findUsed(values) });
  return broken.length === 0 || broken.map(([, rule]) => describeBreach(rule, values));
};

/** As Node-RED knows the fields. */
export const fieldDefinitions = {
  ...(Object.fromEntries(
    fieldNames.map((name) => [name, { value: defaults[name] }]),
  ) as EditorNodeDefinition<SavedFields>["defaults"]),
  relativePath: { value: defaults.relativePath, validate: validateNode },
};

export const credentialDefinitions = Object.fromEntries(
  credentialNames.map((name) => [name, { type: credentials[name].type }]),
);

/** Names what is wrong in a list. */
function describeBreach(rule: BrokenRule, { allowFrom, conditions }: SavedFields): string {
  const entry = rule === "allowFrom" ? findUnreadable(allowFrom) : undefined;
  if (entry !== undefined) return text("limits.unreadable", { entry });
  const isNoNumber = ({ operator, value }: SavedCondition) =>
    ["above", "below"].includes(operator) && textOf(value) !== "" && parseNumber(textOf(value)) === undefined;
  const listed = asList(conditions) as readonly SavedCondition[];
  const wrong = rule === "conditions" ? listed.find(isNoNumber) : undefined;
  return wrong ? text("filter.notNumber", { value: textOf(wrong.value) }) : ruleText(rule);
}

function ruleText(rule: BrokenRule): string {
  // The text of the rule needs the version of Node.js, which only the runtime knows.
  return rule === "storeMissing" ? text("guaranteed.closed") : text(`rules.${rule}`);
}

interface Checked extends Pick<FormState, "values" | "used"> {
  readonly credentials: Partial<EnteredCredentials>;
  /** Where what is missing is no error. */
  readonly asked?: ReadonlySet<Field>;
}

function findBroken({ values, credentials: entered, used, asked }: Checked): (readonly [Field, BrokenRule])[] {
  const onlyCallers = hasOnlyCallers(used, entered);
  return checkedFields.flatMap((field) => {
    const value = isCredential(field) ? entered[field] : getValue(values, field);
    if (onlyCallers && ownCredentials.some((own) => own === field)) return [];
    if (value === undefined || value === keptPassword || (value === "" && asked?.has(field))) return [];
    const rule = hasEnvironmentValue(value) || !used.has(field) ? undefined : checks[field]?.(value, values);
    return rule ? [[field, rule] as const] : [];
  });
}

const ownCredentials = ["token", "user", "password", "secondPassword"] as const satisfies CredentialName[];

function hasOnlyCallers(used: ReadonlySet<Field>, entered: Partial<EnteredCredentials>): boolean {
  const isGiven = (name: CredentialName) => used.has(name) && Boolean(entered[name]);
  return isGiven("callers") && !ownCredentials.some(isGiven);
}

/** The rules of the runtime, and those that depend on other fields. */
const checks: Partial<Record<Field, (value: unknown, values: SavedFields) => BrokenRule | undefined>> = {
  ...rules,
  guaranteed: (value) =>
    rules.guaranteed(value) ??
    (isTrue(value) && RED.settings.webhookTriggerGuaranteed === "none" ? "storeMissing" : undefined),
  relativePath: (value) =>
    rules.relativePath(value) ??
    (isAdminPath(textOf(value), RED.settings.webhookTriggerRoots) ? "relativePath.admin" : undefined),
  verificationMethod: (value, { sender }) =>
    value === "signature" && findJwtPreset(sender) ? "verificationMethod" : rules.verificationMethod(value),
  requiredClaim: (value, { sender }) => rules.requiredClaim(value) ?? identityRule(value, sender),
  sender(value, { verificationMethod }) {
    if (findSender(value)) return undefined;
    if (textOf(value) !== "" && !isRecipeId(value)) return "sender.unknown";
    return verificationMethod === "signature" ? "sender.required" : undefined;
  },
  token: whereNeeded(rules.token),
  user: whereNeeded(rules.user),
  password: whereNeeded(rules.password),
  secret(value, values) {
    const { verificationMethod, sender, senderSettings } = values;
    const { arm } = senderSettings;
    // The sender may send its secret with its first request.
    const mayFollow =
      findSender(sender)?.settings?.includes("arm") && (String(arm) === "true" || isEnvironmentValue(arm));
    const isRequired = !mayFollow && !isEnvironmentValue(verificationMethod);
    return (isRequired ? rules.secret(value) : undefined) ?? (isReadable(value, values) ? undefined : "secret.format");
  },
  secondSecret: (value, values) => (isReadable(value, values) ? undefined : "secondSecret.format"),
  topicArn: (value) => (value === "" ? "topicArn" : rules.topicArn(value)),
  webhookId: (value) => (value === "" ? "webhookId" : rules.webhookId(value)),
  scheme(value, values) {
    const scheme = parseScheme(value, knownPublicUrl(values));
    return "rule" in scheme && scheme.rule !== "publicUrl" ? scheme.rule : undefined;
  },
  signatureHeader: (value, { sender }) =>
    sender === "shared-secret" && rules.signatureHeader(value) ? "headerParameter" : rules.signatureHeader(value),
  publicUrl(value, values) {
    const broken = rules.publicUrl(value);
    const sender = findSender(values.sender);
    if (broken || !sender) return broken;
    const publicUrl = textOf(value) || knownPublicUrl(values);
    const settled =
      values.sender === "custom" ? parseScheme(values.scheme, publicUrl) : settleScheme(sender, { publicUrl });
    return "rule" in settled && settled.rule === "publicUrl" ? "publicUrl" : undefined;
  },
};

/** An environment variable as the method decides which credential is needed. */
function whereNeeded(rule: (value: unknown) => BrokenRule | undefined) {
  return (value: unknown, { verificationMethod }: SavedFields) =>
    value === "" && isEnvironmentValue(verificationMethod) ? undefined : rule(value);
}

/** Whether a secret has the format of the sender's key. */
function isReadable(secret: unknown, { verificationMethod, sender, scheme }: SavedFields): boolean {
  if (verificationMethod === "jwt") return true;
  const known = findSender(sender);
  const parsed = sender === "custom" ? parseScheme(scheme) : known && schemeForSecret(known, textOf(secret));
  return textOf(secret) === "" || !parsed || "rule" in parsed || readSecret(textOf(secret), parsed.key).length > 0;
}

function hasEnvironmentValue(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isEnvironmentValue(value);
  return Object.values(value).some(hasEnvironmentValue);
}

/** From `webhookTriggerBaseUrl`; empty where it is not set. */
export function knownPublicUrl({ relativePath }: Pick<SavedFields, "relativePath">): string {
  const { webhookTriggerRoots: roots, webhookTriggerBaseUrl: baseUrl } = RED.settings;
  return composePublicUrl(textOf(relativePath), roots.node, parseBaseUrl(baseUrl));
}

function findUsed(values: SavedFields): ReadonlySet<Field> {
  return new Set(rowFields.filter((field) => isUsed(field, values)));
}

/** A custom sender may sign the URL. */
function isUsed(field: Field, values: SavedFields): boolean {
  const { isUsed: check }: FormRow & { default?: unknown } = table[field];
  return (check?.(values) ?? true) && (field !== "publicUrl" || values.sender !== "custom" || usesSignedUrl(values));
}

/** Whether a custom scheme needs the URL. */
function usesSignedUrl({ scheme, senderSettings }: SavedFields): boolean {
  const parsed = parseScheme(scheme);
  return textOf(senderSettings.publicUrl) !== "" || ("rule" in parsed && parsed.rule === "publicUrl");
}

const checkedFields = Object.keys(checks) as readonly Field[];

// Messages under the fields.

/** Shows the rows of the fields that are used. */
export function showRows({ used }: FormState, before: FormState | undefined): void {
  const changed = rowFields.filter((field) => used.has(field) !== before?.used.has(field));
  for (const field of changed) showElement(findRow(field), used.has(field));
}

/** `jQuery.toggle` has the browser compute the style of each element. */
export function showElement(element: JQuery, isShown: boolean): void {
  element.css("display", isShown ? "" : "none");
}

export function showMessages({ values, broken }: FormState, before: FormState | undefined): void {
  for (const field of checkedFields) {
    const rule = broken.get(field);
    if (!rule && before && !before.broken.has(field)) continue;
    input(field).attr("aria-invalid", String(rule !== undefined));
    const message = rule && describeBreach(rule, values);
    updateText($(`#webhook-trigger-message-${field}`), message ?? "");
  }
}
