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
  inEveryLayout(title, options, describeIt);
  for (const [name, { code }] of Object.entries({ "a layer": behindLayer, "a middleware": behindMiddleware })) {
    const both = [options.code, code].filter(Boolean).join(", ");
    inEveryLayout(`${title}, behind ${name}`, { ...options, code: both }, describeIt);
  }
}
