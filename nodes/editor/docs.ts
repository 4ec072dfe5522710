// Where the form sends those who want to read more.

const folder = "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/";

/** @param page its file and, behind a #, the place in it */
export function docsUrl(page: string): string {
  return folder + page;
}
