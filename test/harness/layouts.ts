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

type Describe = (nodeRed: () => NodeRed, way: Way) => void;

function inLayout(layout: keyof typeof layouts, title: string, options: Options, way: Way, describeIt: Describe): void {
  describe(`${title}, with ${layout}`, () => {
    let nodeRed: NodeRed;
    before(async () => {
      nodeRed = await NodeRed.start({ ...options, settings: { ...options.settings, ...layouts[layout] } });
    });
    after(() => nodeRed.stop());
    describeIt(() => nodeRed, way);
  });
}

/** Describes the same behaviour of a Node-RED in each layout. */
export function inEveryLayout(title: string, options: Options, describeIt: (nodeRed: () => NodeRed) => void): void {
  inLayout("equal roots", title, options, "fast", describeIt);
  inLayout("separate roots", title, options, "fast", describeIt);
}

/**
 * Describes the same behaviour on both ways, each in the layout that asks more of it: behind guards, bodies have to be
 * kept from the parsers of the admin app, which is in front with equal roots.
 */
export function onBothWays(title: string, options: Options, describeIt: Describe): void {
  inLayout("separate roots", title, options, "fast", describeIt);
  inLayout("equal roots", `${title}, behind guards`, along(options, behindGuards), "ordinary", describeIt);
}

/** Describes the same behaviour on both ways in each layout. */
export function onEveryWay(title: string, options: Options, describeIt: Describe): void {
  onBothWays(title, options, describeIt);
  inLayout("equal roots", title, options, "fast", describeIt);
  inLayout("separate roots", `${title}, behind guards`, along(options, behindGuards), "ordinary", describeIt);
}

function along(options: Options, more: Options): Options {
  return { ...options, code: [options.code, more.code].filter(Boolean).join(", ") };
}
