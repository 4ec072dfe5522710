// Why the admin API has not taken a test request.

import { isApiError } from "../deliveries/host";

/** What a form asks of the admin API; besides these, it may have the parts of a request. */
export interface AskedByForm {
  readonly delivery?: string | undefined;
  readonly sample?: string;
  readonly sign?: boolean;
}

/** @returns a key in the message catalog; nothing where any other call could have failed like this */
export function findTrouble(error: unknown, { sample }: AskedByForm): string | undefined {
  if (!isApiError(error)) return undefined;
  // The form has only those of its sender, which need not be the deployed one.
  if (error.status === 400) return sample === undefined ? "testRequest.impossible" : "testRequest.unknownSample";
  return error.status === 413 ? "testRequest.tooLarge" : undefined;
}
