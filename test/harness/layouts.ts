import { NodeRed, type Options } from "./node-red";

/** The two ways to mount Node-RED: with equal roots, the admin app and its body parsers come before every node. */
export const layouts = {
  "equal roots": {},
  "separate roots": { httpAdminRoot: "/admin", httpNodeRoot: "/api" },
};

/** Guards that let everybody pass, where settings have places for them: requests go the ordinary way then. */
export const behindLayer: Options = { code: "httpNodeAuth: (request, response, next) => next()" };
export const behindMiddleware: Options = { code: "httpNodeMiddleware: (request, response, next) => next()" };
export const behindGuards: Options = along(behindLayer, behindMiddleware);

/** The two ways in which endpoints are met. */
export type Way = "fast" | "ordinary";

/** Describes the same behaviour of a Node-RED in each layout. */
export function inEveryLayout(title: string, options: Options, describeIt: (nodeRed: () => NodeRed) => void): void {
  for (const [layout, roots] of Object.entries(layouts)) {
    describe(`${title}, with ${layout}`, () => {
      let nodeRed: NodeRed;
      before(async () => {
        nodeRed = await NodeRed.start({ ...options, settings: { ...options.settings, ...roots } });
      });
      after(() => nodeRed.stop());
      describeIt(() => nodeRed);
    });
  }
}

/** Describes the same behaviour in each layout, and in each on both ways. */
export function onBothWays(
  title: string,
  options: Options,
  describeIt: (nodeRed: () => NodeRed, way: Way) => void,
): void {
  inEveryLayout(title, options, (nodeRed) => describeIt(nodeRed, "fast"));
  inEveryLayout(`${title}, behind guards`, along(options, behindGuards), (nodeRed) => describeIt(nodeRed, "ordinary"));
}

function along(options: Options, more: Options): Options {
  return { ...options, code: [options.code, more.code].filter(Boolean).join(", ") };
}
