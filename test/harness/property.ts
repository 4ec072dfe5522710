/**
 * What the made-up examples of a property start from. It is fixed, so that a run says something of the code and not of
 * its luck; `SEED=123 npm test` looks elsewhere.
 */
export const seed = Number(process.env.SEED ?? 1);
