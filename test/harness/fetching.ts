/** What is asked of other servers, in the tests of a suite. */
export interface Fetching {
  urls: string[];
  /** Gives the answers, in each test until it sets another one. */
  respond: (signal: AbortSignal) => Promise<Response>;
}

/** Takes the place of `fetch` in the tests of a suite. */
export function useFetch(usual: Fetching["respond"]): Fetching {
  const fetching: Fetching = { urls: [], respond: usual };
  let original: typeof fetch;
  beforeEach(() => {
    original = globalThis.fetch;
    Object.assign(fetching, { urls: [], respond: usual });
    globalThis.fetch = (input, { signal } = {}) => {
      fetching.urls.push(String(input instanceof Request ? input.url : input));
      return fetching.respond(signal ?? new AbortController().signal);
    };
  });
  afterEach(() => {
    globalThis.fetch = original;
  });
  return fetching;
}
