import { NodeRed, type Options } from "./node-red";

/**
 * Where the editor and the HTTP nodes are; nested as in Home Assistant's add-on. With equal roots, the admin app and its
 * body parsers come before every HTTP node. With separate ones, no request for a node meets the editor, and Node-RED starts
 * sooner without it.
 */
export const roots = {
  equal: { httpAdminRoot: "/", httpNodeRoot: "/" },
  separate: { httpAdminRoot: "/admin", httpNodeRoot: "/api", disableEditor: true },
  nested: { httpAdminRoot: "/", httpNodeRoot: "/endpoint" },
};

export type Layout = keyof typeof roots;

/** Guards that let every request pass, where settings have places for them: requests take the ordinary way then. */
const behindLayer: Options = { code: "httpNodeAuth: (request, response, next) => next()" };
export const behindMiddleware: Options = { code: "httpNodeMiddleware: (request, response, next) => next()" };
export const behindGuards: Options = along(behindLayer, behindMiddleware);

/** The two ways in which endpoints are met. */
type Way = "fast" | "ordinary";

type Describe = (nodeRed: () => NodeRed, way: Way) => void;

/** One Node-RED for all tests of a suite. */
export function useNodeRed(options: Options): () => NodeRed {
  let nodeRed: NodeRed | undefined;
  before(async () => {
    nodeRed = await NodeRed.start(options);
  });
  after(() => nodeRed?.stop());
  return () => {
    if (!nodeRed) throw new Error("Node-RED did not start");
    return nodeRed;
  };
}

function inLayout(layout: Layout, title: string, options: Options, way: Way, describeIt: Describe): void {
  describe(`${title}, with ${layout} roots`, () => {
    describeIt(useNodeRed({ ...options, settings: { ...roots[layout], ...options.settings } }), way);
  });
}

/**
 * Describes the same behaviour on both ways, each in the layout that asks more of it: behind guards, bodies have to be
 * kept from the parsers of the admin app, which is in front with equal roots.
 */
export function onBothWays(title: string, options: Options, describeIt: Describe): void {
  inLayout("separate", title, options, "fast", describeIt);
  inLayout("equal", `${title}, behind guards`, along(options, behindGuards), "ordinary", describeIt);
}

function along(options: Options, more: Options): Options {
  return { ...options, code: [options.code, more.code].filter(Boolean).join(", ") };
}
