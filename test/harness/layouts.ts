import { NodeRed, type Options } from "./node-red";

/** The two ways to mount Node-RED: with equal roots, the admin app and its body parsers come before every node. */
export const layouts = {
  "equal roots": {},
  "separate roots": { httpAdminRoot: "/admin", httpNodeRoot: "/api" },
};

/** Things in front of Node-RED's nodes that do nothing but make requests go another way. */
export const behindLayer: Options = { code: "httpNodeAuth: (request, response, next) => next()" };
export const behindMiddleware: Options = { code: "httpNodeMiddleware: (request, response, next) => next()" };

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

/** Describes the same behaviour in each layout, and in each wherever requests may be met. */
export function onEveryWay(title: string, options: Options, describeIt: (nodeRed: () => NodeRed) => void): void {
  onBothWays(title, options, describeIt);
  inEveryLayout(`${title}, behind a layer`, along(options, behindLayer), describeIt);
}

/** The same where requests are met first, before Express, and where they are met last, in the app for HTTP nodes. */
export function onBothWays(title: string, options: Options, describeIt: (nodeRed: () => NodeRed) => void): void {
  inEveryLayout(title, options, describeIt);
  inEveryLayout(`${title}, behind a middleware`, along(options, behindMiddleware), describeIt);
}

function along(options: Options, way: Options): Options {
  return { ...options, code: [options.code, way.code].filter(Boolean).join(", ") };
}
