import { NodeRed, type Options } from "./node-red";

/** The two ways to mount Node-RED: with equal roots, the admin app and its body parsers come before every node. */
export const layouts = {
  "equal roots": {},
  "separate roots": { httpAdminRoot: "/admin", httpNodeRoot: "/api" },
};

/** A layer in front of Node-RED's nodes that does nothing: it makes every request go the ordinary way. */
export const ordinary: Options = { code: "httpNodeAuth: (request, response, next) => next()" };

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

/** Describes the same behaviour in each layout, and in each on both ways: before Express, and behind a layer of it. */
export function onEveryWay(title: string, options: Options, describeIt: (nodeRed: () => NodeRed) => void): void {
  inEveryLayout(title, options, describeIt);
  const code = [options.code, ordinary.code].filter(Boolean).join(", ");
  inEveryLayout(`${title}, behind Express`, { ...options, code }, describeIt);
}
