// The saved fields, with their types and defaults. The runtime and the editor's form both read them here.

/** Where a request carries its token. */
export type VerificationMethod = "header" | "query";

/** The fields as a flow file holds them. The token is a credential and is kept apart. */
export interface SavedFields {
  name: string;
  relativePath: string;
  /** A boolean, or a string when it holds a `${NAME}` value. */
  returnQueryParams: boolean | string;
  verificationMethod: string;
  queryParameter: string;
  headerParameter: string;
}

export const defaults = {
  name: "",
  relativePath: "",
  returnQueryParams: false,
  verificationMethod: "header",
  queryParameter: "state",
  headerParameter: "Authorization",
} as const satisfies SavedFields;

/** The field that names the place of the token, for each Verification Method. */
export const placementField = {
  header: "headerParameter",
  query: "queryParameter",
} as const satisfies Record<VerificationMethod, keyof SavedFields>;
