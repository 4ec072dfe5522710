/**
 * What may stand in front of Node-RED's nodes, and between them: a row for each kind of application, setting and node
 * that has a say in what reaches an HTTP node. A new kind of guard is a new row.
 */

/** Where the editor and the HTTP nodes are; nested as in Home Assistant's add-on. */
export const roots = {
  equal: { httpAdminRoot: "/", httpNodeRoot: "/" },
  separate: { httpAdminRoot: "/admin", httpNodeRoot: "/api" },
  nested: { httpAdminRoot: "/", httpNodeRoot: "/endpoint" },
  inverse: { httpAdminRoot: "/admin", httpNodeRoot: "/" },
};

export type Layout = keyof typeof roots;

/** In which all has the most to do with each other. */
export const defaultRoots: Layout = "equal";

/** A request: a POST of JSON to the endpoint, unless it says more. */
interface Request {
  method?: string;
  /** `{root}` stands for the root of HTTP nodes, `{ROOT}` for the same in capitals. */
  target?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A request that means the endpoint, or looks as if it did. */
export interface Target extends Request {
  /** Whether, or where, it makes a message of core's `http in`. */
  accepted: boolean | Layout[];
  /** The status of the webhook trigger's answer, where the contract has another one than what keeps `http in`. */
  ours?: number;
}

/** A request that means something else, with its answer if that is not just whatever it is without the endpoint. */
export interface Bystander extends Request {
  status?: number;
  says?: string;
}

export interface Row {
  name: string;
  /** The layouts that it is tried in; equal roots alone unless given. */
  roots?: Layout[];
  /** Whether nothing unknown has a say: escapes in a target may be read then as the contract says. */
  plain?: true;
  /** What mounts Node-RED in a host application; without it Node-RED runs by its own command. */
  host?: string;
  /** More of the settings file, as the inside of an object. */
  settings?: string;
  /** What a module of nodes does when it is loaded; it knows \`RED\`. */
  plugin?: string;
  /** Nodes that stand before the endpoint in its flow, and after it. */
  earlier?: Record<string, unknown>[];
  later?: Record<string, unknown>[];
  /** Whether each side needs a Node-RED of its own, for core's \`http in\` one without the package. */
  fresh?: true;
  /** What is done before the requests are sent; with "change", what the row's code has given to \`onChange\`. */
  then?: ("redeploy" | "change")[];
  targets: Target[];
  bystanders?: Bystander[];
}

/** The ways to write the endpoint's path, the wrong ones as well, and what Express makes of each. */
const spellings: Target[] = [
  { target: "{root}/hook", accepted: true },
  { target: "{root}/HOOK", accepted: true },
  { target: "{ROOT}/hook", accepted: true },
  { target: "{root}/hook/", accepted: true },
  { target: "{root}/hook//", accepted: false },
  { target: "{root}/hook?x", accepted: true },
  { target: "{root}/hook?x=/y?z", accepted: true },
  { target: "{root}/hook#x", accepted: true },
  { target: "{root}/hook;a=1", accepted: false },
  { target: "{root}/./hook", accepted: false },
  { target: "{root}/x/../hook", accepted: false },
  { target: "{root}/hook%2f", accepted: false },
  { target: "{root}/hook%2F", accepted: false },
  { target: "{root}/h%6Fok", accepted: false },
  { target: "{root}%2Fhook", accepted: false },
  { target: "{root}/hook%", accepted: false },
  { target: "{root}//hook", accepted: ["separate", "nested"] },
  { target: "/{root}/hook", accepted: false },
  { target: "//x{root}/hook", accepted: false },
  { target: "{root}\\hook", accepted: false },
  { target: "{root}/hook\xa0", accepted: false },
  { target: "{root}/hook\xa0#", accepted: false },
  { target: "http://host{root}/hook", accepted: true },
  { target: "HTTP://host{root}/hook?x", accepted: true },
  { target: "http://u:p@host:1{root}/hook", accepted: true },
  { target: "javascript://x{root}/hook", accepted: false },
  { target: "http://x;y{root}/hook", accepted: false },
  { target: "http://x'{root}/hook", accepted: false },
  { target: "http://x?y{root}/hook", accepted: false },
  { target: "http://x\\{root}/hook", accepted: false },
  { target: "file://{root}/hook", accepted: true },
  { target: "mailto://x{root}/hook", accepted: true },
];

/** What a guard refuses. */
const evil = { "X-Evil": "yes" };
/** The same requests, all of them evil. */
const kept = (targets: Target[]) => targets.map((target): Target => ({ ...target, headers: evil, accepted: false }));

/** For what is behind a guard, and for what is not. */
const guarded: Target[] = [{ accepted: true }, { headers: evil, accepted: false }];
const unguarded: Target[] = [{ accepted: true }, { headers: evil, accepted: true }];
/** For what is behind a guard that is mounted at a path: another way to write it must not lead past. */
const spelled = [...spellings, ...kept(spellings.filter(({ target }) => target !== "{root}//hook"))];
const never: Target[] = [{ accepted: false }];

const form = { "Content-Type": "application/x-www-form-urlencoded" };
const text = { "Content-Type": "text/plain" };
/** JSON by its suffix alone (RFC 6839 §3.1), which Express's parsers do not take for JSON by themselves. */
const vendor = { "Content-Type": "application/vnd.x+json" };
const binary = { "Content-Type": "application/octet-stream" };
/** For guards that read the body, where it is parsed. */
const guardedByBody: Target[] = [
  { body: '{"a":[1,{"b":"c"}]}', accepted: true },
  { body: '{"evil":true}', accepted: false },
  { headers: form, body: "a=1", accepted: true },
  { headers: form, body: "evil=1", accepted: false },
];
const unguardedByBody = guardedByBody.map((target): Target => ({ ...target, accepted: true }));

/**
 * Ways to add a guard to an app `on`, in front of what is at `hook` there; and where each is tried: in the host
 * application, in the admin app, in the app for HTTP nodes. What the admin app's own parsers have read, no other reads.
 */
const guards: [where: string, how: string, code: string, targets?: Target[]][] = [
  ["han", "for everything", "on.use(guard);"],
  ["han", "at the path", "on.use(hook, guard);", spelled],
  ["hn", "as a route for POST", 'on.post("*", guard);', spelled],
  ["hn", "as a route for POST at the path", "on.route(hook).post(guard);", spelled],
  ["hn", "as a route for all methods", 'on.all("*", guard);'],
  ["h", "at a regular expression", "on.use(/^.*ook/i, guard);"],
  ["h", "at a pattern with a parameter", 'on.use(hook.replace("hook", ":any"), guard);', spelled],
  ["hn", "for a parameter", 'on.param("any", named("byName")); on.all("*/:any", pass);'],
  ["h", "in a router in a router", "const outer = express.Router(); const inner = express.Router(); inner.post(/./, guard); outer.use(inner); on.use(outer);"],
  ["h", "in an app at the path", "const sub = express(); sub.use(guard); on.use(hook, sub);", spelled.filter(({ target }) => !/^(file|mailto)/.test(target ?? ""))],
  ["hn", "that calls back with an error", "on.use((request, response, next) => next(isEvil(request) ? Object.assign(new Error(), { status: 403 }) : undefined));"],
  ["h", "that throws", "on.use((request, response, next) => { verify(request); next(); });"],
  ["h", "that answers later", "on.use((request, response, next) => setImmediate(guard, request, response, next));"],
  ["hn", "that leaves its route for those who may", 'on.post("*", (request, response, next) => next(isEvil(request) ? undefined : "route"), refuse);'],
  ["hn", "that checks what a parser of JSON reads", "on.use(express.json({ verify }));"],
  ["h", "that checks what a parser of forms reads", "on.use(express.urlencoded({ extended: true, verify }));", [{ headers: form, body: "a=1", accepted: true }, { headers: { ...form, ...evil }, body: "a=1", accepted: false }]],
  ["h", "that limits the length of JSON", 'on.use(express.json({ limit: 2000, type: (request) => request.method === "POST" && request.url.endsWith("hook") }));', [{ body: '{"a":1}', accepted: true }, { body: JSON.stringify("a".repeat(2000)), accepted: false }]],
  ["hn", "that looks into the body", "on.use(express.json(), express.urlencoded({ extended: true }), guardBody);", guardedByBody],
]; // prettier-ignore

const places = {
  h: (code: string): Partial<Row> => ({ name: "the host application", host: `{ const on = app; ${code} } mount();` }),
  a: (code: string): Partial<Row> => ({ name: "the admin app", plugin: `{ const on = RED.httpAdmin; ${code} }` }),
  n: (code: string): Partial<Row> => ({
    name: "the app for HTTP nodes",
    plugin: `{ const on = RED.httpNode; ${code} }`,
  }),
};

const guardRows: Row[] = guards.flatMap(([where, how, code, targets = guarded]) => {
  return (["h", "a", "n"] as const)
    .filter((place) => where.includes(place))
    .map((place): Row => {
      const { name = "", ...row } = places[place](code);
      // In the admin app only what passes it is guarded, and a mount shows where there is a root to be left out.
      const layouts: Layout[] = place === "n" || (place === "h" && targets.length > 9) ? ["separate"] : ["equal"];
      // When an `http in` closes, it takes another route at its path with it, or leaves its own.
      const apart = place === "n" && how.endsWith("POST at the path") ? ({ fresh: true } as const) : {};
      return { ...row, ...apart, roots: layouts, name: `a guard in ${name} ${how}`, targets };
    });
});

/** Guards that are called like layers of Express and Node-RED. */
const disguisedRows: Row[] = [
  { name: "a guard in the host application that is called mounted_app", roots: ["separate"], host: 'app.use(named("mounted_app")); mount();', targets: guarded },
  { name: "a guard in the admin app that is called jsonParser", host: 'RED.httpAdmin.use(named("jsonParser")); mount();', targets: guarded },
  { name: "a guard in the app for HTTP nodes that is called query", roots: ["separate"], plugin: 'RED.httpNode.use(named("query"));', targets: guarded },
]; // prettier-ignore

const basic = (credentials: string) => ({ Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` });
const signedIn = basic("user:password");
/** The MD5 digest of `password`, which Node-RED still takes. */
const account = '{ user: "user", pass: "5f4dcc3b5aa765d61d8327deb882cf99" }';
const withAccount: Target[] = [
  ...spellings.map((target): Target => ({ ...target, headers: signedIn })),
  ...spellings.map((target): Target => ({ ...target, accepted: false })),
  { headers: basic("user:wrong"), accepted: false },
];
const everywhere: Layout[] = ["equal", "separate", "nested"];

const settingRows: Row[] = [
  { name: "plain", roots: [...everywhere, "inverse"], plain: true, targets: spellings, bystanders: [
    { target: "{root}/elsewhere", status: 404 },
    { target: "{root}/elsewhere", method: "GET", status: 404 },
    { target: "{root}/elsewhere", method: "OPTIONS" },
    { target: "{root}/hook/below", status: 404 },
    { target: "{root}/h%6Fok/elsewhere", status: 404 },
  ] },
  { name: "no editor", roots: ["separate"], settings: "disableEditor: true", plain: true, targets: spellings },
  { name: "no admin app", roots: ["equal"], settings: "httpAdminRoot: false", fresh: true, plain: true, targets: spellings },
  { name: "no HTTP nodes", settings: "httpNodeRoot: false", roots: ["equal"], targets: never },
  { name: "accounts for the editor", settings: 'adminAuth: { type: "credentials", users: [], default: { permissions: "*" } }', plain: true, targets: spellings },

  { name: "httpNodeAuth as an account", roots: ["equal", "nested"], settings: `httpNodeAuth: ${account}`, targets: withAccount },
  { name: "httpNodeAuth as a function", roots: ["separate"], settings: "httpNodeAuth: guard", targets: spelled },
  { name: "httpNodeAuth as functions", settings: "httpNodeAuth: [pass, [pass, [guard]]]", targets: spelled },
  { name: "httpNodeAuth that looks into the body", settings: "httpNodeAuth: guardBody", targets: guardedByBody },
  { name: "httpAdminAuth in front of all", roots: ["nested"], settings: `httpAdminAuth: ${account}`, fresh: true, targets: withAccount },

  { name: "httpNodeMiddleware as a function", roots: ["separate", "nested"], settings: "httpNodeMiddleware: guard", targets: spelled },
  { name: "httpNodeMiddleware as functions within functions", settings: "httpNodeMiddleware: [pass, [pass, [guard]]]", targets: guarded },
  { name: "httpNodeMiddleware as something else", settings: 'httpNodeMiddleware: "guard"', targets: unguarded },
  { name: "httpNodeMiddleware as a route of a router", settings: 'httpNodeMiddleware: express.Router().post("/hook", guard)', targets: spelled },
  { name: "httpNodeMiddleware that leaves the route", settings: 'httpNodeMiddleware: (request, response, next) => next(isEvil(request) ? "route" : undefined)', targets: guarded },
  { name: "httpNodeMiddleware that throws", settings: "httpNodeMiddleware: (request, response, next) => { verify(request); next(); }", targets: guarded },
  { name: "httpNodeMiddleware with something that is no function", settings: 'httpNodeMiddleware: [pass, "guard"]', targets: never },
  { name: "httpNodeMiddleware that looks into the body", settings: "httpNodeMiddleware: guardBody", targets: guardedByBody },
  { name: "httpNodeMiddleware that looks for the body where none is read", settings: "httpNodeMiddleware: guardBody", roots: ["separate"], targets: unguardedByBody },
  { name: "httpNodeMiddleware that looks into a body which Node-RED's parsers do not read", settings: "httpNodeMiddleware: guardBody", targets: [
    { headers: { "Content-Type": "application/json; charset=iso-8859-1" }, body: '{"evil":true}', accepted: false, ours: 403 },
    { headers: { ...form, "Content-Type": `${form["Content-Type"]}; charset=iso-8859-1` }, body: "evil=1", accepted: false, ours: 403 },
  ] },
  { name: "httpNodeMiddleware that looks into forms which can be read in more ways than one", settings: "httpNodeMiddleware: guardBody", targets: [
    { headers: form, body: "evil[a]=1", accepted: false },
    { headers: form, body: "evil[]=1", accepted: false },
    { headers: form, body: "[evil]=1", accepted: false },
    { headers: form, body: "a=1&a=2&__proto__=1", accepted: true },
  ] },
  { name: "httpNodeMiddleware that puts a copy in the place of the body", settings: "httpNodeMiddleware: (request, response, next) => { request.body = { ...request.body }; next(); }", targets: [{ body: '{"a":1}', accepted: true }, { headers: text, body: "text", accepted: true }] },
  { name: "httpNodeMiddleware that changes the body", settings: "httpNodeMiddleware: (request, response, next) => { delete request.body.evil; next(); }", targets: [{ body: '{"a":1,"evil":true}', accepted: true }, { headers: form, body: "a=1&evil=1", accepted: true }] },
  { name: "httpNodeMiddleware that replaces the body", settings: "httpNodeMiddleware: (request, response, next) => { request.body = { clean: true }; next(); }", targets: [{ body: '{"a":1}', accepted: true }] },
  { name: "httpAdminMiddleware that reads the body and leaves nothing", settings: 'httpAdminMiddleware: (request, response, next) => { if (request.url === "/hook") { request.resume(); request.on("end", next); } else next(); }', roots: ["equal"], targets: [{ accepted: false, ours: 500 }] },
  { name: "httpNodeMiddleware that reads the body and looks into it", roots: ["separate"], settings: "httpNodeMiddleware: [express.json(), express.urlencoded({ extended: true }), guardBody]", targets: guardedByBody },
  { name: "httpNodeMiddleware that checks what its parser reads", settings: "httpNodeMiddleware: [express.json({ verify })]", roots: ["separate"], targets: guarded },
  { name: "httpNodeMiddleware whose parser gives another value", settings: "httpNodeMiddleware: express.json({ reviver: (key, value) => (value === 1 ? 2 : value) })", roots: ["separate"], targets: [{ accepted: true }, { body: '{"a":{"b":[1]}}', accepted: true }] },
  { name: "httpNodeMiddleware that sends requests elsewhere", settings: 'httpNodeMiddleware: (request, response, next) => { if (isEvil(request)) { request.url = "/elsewhere"; next("route"); } else next(); }', targets: guarded },

  { name: "httpAdminMiddleware in front of all", settings: "httpAdminMiddleware: guard", targets: spelled },
  { name: "httpAdminMiddleware elsewhere", settings: "httpAdminMiddleware: guard", roots: ["separate"], targets: unguarded },
  { name: "httpAdminMiddleware as functions", settings: "httpAdminMiddleware: [pass, [guard]]", roots: ["equal"], targets: guarded },
  { name: "httpAdminMiddleware that is called like a layer of Node-RED's", settings: 'httpAdminMiddleware: named("jsonParser")', roots: ["equal"], targets: guarded },
  { name: "httpAdminMiddleware that leaves the app", settings: 'httpAdminMiddleware: (request, response, next) => next(isEvil(request) ? "router" : undefined)', roots: ["equal"], targets: unguarded },
  { name: "httpAdminMiddleware that checks what its parser of JSON reads", settings: "httpAdminMiddleware: express.json({ verify })", roots: ["equal"], targets: guarded },
  { name: "requireHttps in front of all", settings: "requireHttps: true", roots: ["equal"], fresh: true, targets: [{ accepted: false }, { headers: { "X-Forwarded-Proto": "https" }, accepted: true }] },
  { name: "httpAdminCors that fails", settings: 'httpAdminCors: { origin: (origin, done) => done(origin ? new Error("from there") : null, true) }', roots: ["equal"], targets: [{ accepted: true }, { headers: { Origin: "http://x" }, accepted: false }] },
  { name: "httpNodeCors", roots: ["separate"], settings: "httpNodeCors: {}", plain: true, targets: spellings, bystanders: [{ method: "OPTIONS", headers: { Origin: "http://x", "Access-Control-Request-Method": "POST" } }] },
  { name: "httpNodeCors that fails", settings: 'httpNodeCors: { origin: (origin, done) => done(origin ? new Error("from there") : null, true) }', targets: [{ accepted: true }, { headers: { Origin: "http://x" }, accepted: false }] },

  { name: "httpStatic at the root", settings: "httpStatic: process.env.STATIC", plain: true, targets: spellings, bystanders: [
    { target: "/hook", method: "GET", status: 200, says: "a file" },
    { target: "/HEAD", method: "HEAD", status: 404 },
    { target: "/page.txt", method: "GET", status: 200, says: "another file" },
  ] },
  { name: "httpStatic below the nodes' root", settings: 'httpStatic: [{ path: process.env.STATIC, root: "/api/" }]', roots: ["separate"], plain: true, targets: spellings, bystanders: [
    { method: "GET", status: 200, says: "a file" },
    { target: "/api/page.txt", method: "GET", status: 200, says: "another file" },
  ] },
  { name: "httpStatic with a middleware, behind the nodes", settings: "httpStatic: [{ path: process.env.STATIC, middleware: guard }]", targets: unguarded, bystanders: [
    { target: "/hook", method: "GET", status: 200, says: "a file" },
    { target: "/hook", method: "GET", headers: evil, status: 403 },
  ] },

  { name: "case sensitive routing", roots: ["separate"], settings: 'httpServerOptions: { "case sensitive routing": true }', targets: withoutCases(spellings) },
  { name: "strict routing", settings: 'httpServerOptions: { "strict routing": true }', targets: withoutSlashes(spellings) },
  { name: "a parser of queries that throws", settings: 'httpServerOptions: { "query parser": (query) => { if (/evil/.test(query)) throw new Error("evil"); return {}; } }', targets: [{ target: "{root}/hook?x", accepted: true }, { target: "{root}/hook?evil", accepted: false }] },

]; // prettier-ignore

/** What Express makes of spellings once it minds the letter case. */
function withoutCases(targets: Target[]): Target[] {
  return targets.map((target) => {
    const { accepted } = target;
    if (target.target === "{root}/HOOK") return { ...target, accepted: false };
    // With equal roots there is nothing in it to write in another case.
    return target.target?.startsWith("{ROOT}") ? { ...target, accepted: ["equal"] } : { ...target, accepted };
  });
}

/** What Express makes of spellings once a slash at the end counts. */
function withoutSlashes(targets: Target[]): Target[] {
  return targets.map((target) => (target.target === "{root}/hook/" ? { ...target, accepted: false } : target));
}

const hostRows: Row[] = [
  { name: "a host that does nothing else", roots: ["separate", "nested"], host: "mount();", plain: true, targets: spellings },
  { name: "a host that minds the letter case", host: 'app.enable("case sensitive routing"); mount();', targets: withoutCases(spellings) },
  { name: "a host that is strict", roots: ["separate"], host: 'app.enable("strict routing"); mount();', targets: withoutSlashes(spellings) },
  { name: "a guard between the admin app and the nodes", roots: ["equal", "separate"], host: "mountAdmin(); app.use(settings.httpNodeRoot, guard); mountNodes();", targets: spelled },
  { name: "a guard between the admin app and the nodes that looks into the body", roots: ["nested"], host: "mountAdmin(); app.use(guardBody); mountNodes();", targets: guardedByBody },
  { name: "a guard at the mount of the nodes", roots: ["separate"], host: "mountAdmin(); app.use(settings.httpNodeRoot, guard, RED.httpNode);", targets: spelled },
  { name: "a guard at a path, and targets that Express reads past it", roots: ["separate"], host: "app.use(hook, guard); mount();", targets: [...guarded, { target: "{root}\\hook#x", headers: evil, accepted: false }, { target: "{root}//hook", headers: evil, accepted: true }] },
  { name: "a guard for a path that minds the letter case", host: 'app.use(express.Router({ caseSensitive: true }).use(hook, guard)); mount();', targets: [...spellings, { headers: evil, accepted: false }, { target: "{root}/HOOK", headers: evil, accepted: true }] },
  { name: "a guard that fails, and a handler that forgives", host: "app.use((request, response, next) => next(isEvil(request) ? new Error() : undefined)); app.use((error, request, response, next) => next()); mount();", targets: unguarded },
  { name: "a guard that fails, and a handler behind Node-RED that answers", host: 'app.use((request, response, next) => next(isEvil(request) ? new Error() : undefined)); mount(); app.use((error, request, response, next) => response.status(403).send("refused at last"));', targets: guarded },
  { name: "a guard that leaves the app", host: 'app.use((request, response, next) => next(isEvil(request) ? "router" : undefined)); mount();', targets: guarded },
  { name: "files in front, with nothing but GET allowed", host: 'app.use(hook, express.static(process.env.STATIC, { fallthrough: false })); mount();', targets: never },
  { name: "a host that refuses to continue", host: 'server.on("checkContinue", refuse); mount();', targets: [{ accepted: true }, { headers: { Expect: "100-continue" }, accepted: false }] },

  { name: "the listener of Node-RED's command", host: "mount(); listen(function(req,res) {app(req,res);});", plain: true, targets: spellings },
  { name: "a listener that asks a guard first", roots: ["equal", "separate"], host: "mount(); listen((request, response) => guard(request, response, () => app(request, response)));", targets: guarded },
  { name: "a listener that accepted a parser read first", roots: ["equal", "separate"], host: "mount(); const parse = express.json({ verify }); listen((request, response) => parse(request, response, (error) => (error ? refuse(request, response) : app(request, response))));", targets: guarded },
  { name: "a listener that sends requests elsewhere, before Express's", host: 'mount(); server.prependListener("request", (request) => { if (isEvil(request)) request.url = "/elsewhere"; });', targets: guarded },
  { name: "another server than the one that Node-RED knows", host: 'mount(); const outer = require("node:http").createServer((request, response) => guard(request, response, () => app(request, response))); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ address: outer.address() }));', targets: guarded },

  { name: "a listener added once the flows run", host: 'mount(); onceStarted(() => server.prependListener("request", (request) => { if (isEvil(request)) request.url = "/elsewhere"; }));', targets: guarded },


  { name: "Node-RED in an app of its own", host: "const inner = express(); inner.use(guard); mount(inner); app.use(inner);", targets: guarded },
  { name: "Node-RED in an app of its own, elsewhere", host: 'const inner = express(); mount(inner); app.use("/hub", guard, inner); mountAdmin();', roots: ["separate"], targets: [{ target: "/hub/api/hook", accepted: true }, { target: "/hub/api/hook", headers: evil, accepted: false }, { accepted: false }] },
  { name: "Node-RED behind a router", roots: ["separate"], host: "const router = express.Router(); router.use(guard); mount(router); app.use(router);", targets: guarded },
  { name: "Node-RED called by a layer", host: "app.use((request, response, next) => guard(request, response, () => RED.httpAdmin(request, response, () => RED.httpNode(request, response, next))));", roots: ["equal"], targets: guarded },
  { name: "the nodes at several mounts", host: 'mountAdmin(); app.use("/other", guard); app.use(["/api", "/other"], RED.httpNode);', roots: ["separate"], targets: [...unguarded, { target: "/other/hook", accepted: true }, { target: "/other/hook", headers: evil, accepted: false }] },
  { name: "the nodes mounted twice, guarded the second time", host: 'mountAdmin(); app.use("/api", RED.httpNode); app.use("/guarded", guard, RED.httpNode);', roots: ["separate"], targets: [...unguarded, { target: "/guarded/hook", accepted: true }, { target: "/guarded/hook", headers: evil, accepted: false }] },
  { name: "the nodes mounted on another app before, the guarded one of which is served", roots: ["equal", "separate"], host: "const real = express(); real.use(guard); mount(real); mount(); listen(real);", targets: guarded },
  { name: "the nodes mounted on a guarded app as well, which another server serves", roots: ["separate"], host: 'const other = express(); other.use(hook, guard); mount(other); mount(); const outer = require("node:http").createServer(other); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ address: outer.address() }));', targets: spelled },
  { name: "the nodes at a regular expression", host: "mountAdmin(); app.use(guard); app.use(/^\\/api/, RED.httpNode);", roots: ["separate"], targets: guarded },
  { name: "the nodes at a pattern with a parameter", host: 'mountAdmin(); app.param("any", named("byName")); app.use("/:any", RED.httpNode);', roots: ["separate"], targets: guarded },
  { name: "the nodes elsewhere than the settings say", host: 'mountAdmin(); app.use("/elsewhere", guard); app.use("/elsewhere", RED.httpNode);', roots: ["separate"], targets: [{ accepted: false }, { target: "/elsewhere/hook", accepted: true }, { target: "/elsewhere/hook", headers: evil, accepted: false }] },

  { name: "a layer that sends requests away from the endpoint", host: 'app.use((request, response, next) => { if (isEvil(request)) request.url = "/elsewhere"; next(); }); mount();', targets: guarded },
  { name: "a layer that sends requests to the endpoint", host: 'app.use("/friendly", (request, response, next) => { request.baseUrl = ""; request.url = hook; next(); }); app.use((request, response, next) => { if (request.url === "/friend") request.url = hook; next(); }); mount();', targets: [{ accepted: true }, { target: "/friend", accepted: true }] },
  { name: "a layer that sends requests away behind the admin app", host: 'mountAdmin(); app.use((request, response, next) => { if (isEvil(request)) request.url = "/elsewhere"; next(); }); mountNodes();', targets: guarded },
  { name: "a layer that changes the method", host: 'app.use((request, response, next) => { request.method = request.get("X-Method") ?? request.method; next(); }); mount();', targets: [{ accepted: true }, { headers: { "X-Method": "PUT" }, accepted: false, ours: 405 }, { method: "PUT", headers: { "X-Method": "POST" }, accepted: true }] },
  { name: "a parser that gives another value", roots: ["equal", "separate"], host: "app.use(express.json({ reviver: (key, value) => (value === 1 ? 2 : value), type: (request) => /hook/.test(request.url) })); mount();", targets: [{ accepted: true }, { body: '{"a":{"b":[1]}}', accepted: true }] },
  { name: "a parser of forms for all types, and a guard that looks into what it leaves", roots: ["equal", "separate"], host: 'app.use(express.urlencoded({ extended: true, type: (request) => /hook/.test(request.url) }), guardBody); mount();', targets: [{ body: '{"a":1}', accepted: true }, { body: '{"evil":true}', accepted: true }, { body: "evil=1", accepted: false }, { headers: vendor, body: '{"evil":true}', accepted: true }, { headers: text, body: "evil=a]=1", accepted: true }] },
  { name: "a parser of JSON for all types, and a guard that looks into what it leaves", roots: ["equal", "separate"], host: 'app.use(express.json({ type: "*/*" }), guardBody); mount();', targets: [{ headers: vendor, body: '{"a":1}', accepted: true }, { headers: vendor, body: '{"evil":true}', accepted: false }, { headers: form, body: '{"a":1}', accepted: true }, { headers: form, body: '{"evil":true}', accepted: false }] },
  { name: "parsers of all kinds", roots: ["equal", "separate"], host: 'app.use(express.json({ strict: false }), express.urlencoded({ extended: true }), express.text({ type: "text/*" }), express.raw()); mount();', targets: [{ body: '"scalar"', accepted: true }, { body: "null", accepted: true }, { headers: form, body: "a[b]=1&a[c][]=2", accepted: true }, { headers: text, body: "text", accepted: true }, { headers: { "Content-Type": "text/html" }, body: "<p>", accepted: true }, { headers: binary, body: "bytes", accepted: true }] },
]; // prettier-ignore

/** An app with a route at the very path of the endpoint, which tells what it got. */
const other = `
  const other = express();
  other.all("*", express.json(), (request, response) => response.send(request.originalUrl + " " + JSON.stringify(request.body)));
  const raw = express();
  raw.all("*", async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    response.send(request.originalUrl + " " + text);
  });
`;
const atOther = { Host: "other.example" };
const atRaw = { Host: "raw.example" };
const otherHosts: Bystander[] = [
  { headers: atOther, status: 200 },
  { target: "/x", headers: atOther, status: 200, says: '/x {"a":1}' },
  { target: "{root}/h%6Fok", headers: atOther, status: 200 },
  { target: "{root}/HOOK/?x=%61", headers: atOther, status: 200 },
  { method: "GET", headers: atOther, status: 200 },
  { method: "PUT", headers: atOther, status: 200 },
  { headers: atRaw, status: 200 },
  { target: "{root}/h%6Fok", headers: atRaw, status: 200 },
  { method: "PUT", headers: atRaw, status: 200 },
];

const bystanderRows: Row[] = [
  { name: "virtual hosts, told apart by a layer in front", roots: ["equal", "separate", "nested"], host: `${other} app.use((request, response, next) => { const at = { "other.example": other, "raw.example": raw }[request.headers.host]; if (at) at(request, response, next); else next(); }); mount();`, targets: [{ accepted: true }], bystanders: otherHosts },
  { name: "virtual hosts, told apart by the server's listener", roots: ["equal", "separate"], host: `${other} mount(); listen((request, response) => ({ "other.example": other, "raw.example": raw }[request.headers.host] ?? app)(request, response));`, targets: [{ accepted: true }], bystanders: otherHosts },
  { name: "virtual hosts, Node-RED one of them", roots: ["separate"], host: `${other} const hub = express(); mount(hub); app.use((request, response, next) => ({ "other.example": other, "raw.example": raw }[request.headers.host] ?? hub)(request, response, next));`, targets: [{ accepted: true }], bystanders: otherHosts },
  { name: "a router that hides where Node-RED is, and another route at the nodes' own root", host: `${other} const router = express.Router(); mount(router); app.use("/hub", router); mountAdmin(); app.use(settings.httpNodeRoot, other);`, roots: ["separate"], targets: [{ target: "/hub/api/hook", accepted: true }], bystanders: [{ status: 200, says: '/api/hook {"a":1}' }, { target: "/api/h%6Fok", status: 200, says: '/api/h%6Fok {"a":1}' }, { method: "GET", status: 200, says: "/api/hook {}" }] },
  { name: "another app behind Node-RED at the same path", roots: ["equal", "separate"], host: `${other} mount(); app.use(settings.httpNodeRoot, other);`, targets: [{ accepted: true }], bystanders: [
    { target: "{root}/elsewhere", status: 200 },
    { target: "{root}/hook/below", status: 200 },
    { target: "{root}/elsewh%65re", status: 200 },
    { method: "PUT", status: 200 },
    { method: "GET", status: 200 },
  ] },
  { name: "another app behind Node-RED that reads bodies itself", host: `${other} mount(); app.use(raw);`, roots: ["separate"], targets: [{ accepted: true }], bystanders: [
    { target: "{root}/elsewhere", status: 200, says: '/api/elsewhere {"a":1}' },
    { method: "PUT", status: 200, says: '/api/hook {"a":1}' },
    { method: "GET", status: 200, says: "/api/hook " },
  ] },
  { name: "a page behind Node-RED at the same path", roots: ["equal", "separate"], host: 'mount(); app.get(hook, (request, response) => response.send("a page"));', plain: true, targets: spellings, bystanders: [
    { method: "GET", status: 200, says: "a page" },
    { method: "HEAD", status: 200, says: "" },
    { target: "{root}/HOOK/?x", method: "GET", status: 200, says: "a page" },
  ] },
  { name: "a page in front of Node-RED at the same path", host: 'app.get(hook, (request, response) => response.send("a page")); mount();', targets: [{ accepted: true }], bystanders: [{ method: "GET", status: 200, says: "a page" }] },
  { name: "files behind Node-RED", host: "mount(); app.use(settings.httpNodeRoot, express.static(process.env.STATIC));", targets: [{ accepted: true }], bystanders: [{ method: "GET", status: 200, says: "a file" }, { target: "{root}/page.txt", method: "GET", status: 200, says: "another file" }] },
  { name: "files in front of Node-RED", host: "app.use(settings.httpNodeRoot, express.static(process.env.STATIC)); mount();", targets: [{ accepted: true }], bystanders: [{ method: "GET", status: 200, says: "a file" }] },
  { name: "a page for all that is not found", host: 'mount(); app.get("*", (request, response) => response.send("the one page"));', targets: [{ accepted: true }], bystanders: [{ method: "GET", status: 200, says: "the one page" }, { target: "{root}/elsewhere", method: "GET", status: 200, says: "the one page" }] },
  { name: "a route of another node at the same path for another method", plugin: 'RED.httpNode.put("/hook", express.json(), (request, response) => response.send(request.body));', targets: [{ accepted: true }], bystanders: [{ method: "PUT", status: 200, says: '{"a":1}' }] },
  { name: "a router of another node below the endpoint's path", plugin: 'RED.httpNode.use("/hook/below", express.json(), (request, response) => response.send(request.body));', targets: [{ accepted: true }], bystanders: [{ target: "{root}/hook/below", status: 200, says: '{"a":1}' }] },
]; // prettier-ignore

/** A node that adds a guard to the app for HTTP nodes when it is made, the first time. */
const guardNode = `
  let guards = 0;
  RED.nodes.registerType("guard", function (config) {
    RED.nodes.createNode(this, config);
    if (guards++ === 0) RED.httpNode.use(guard);
  });
`;
const aGuard = [{ id: "guard", type: "guard", wires: [] }];

/** Nodes are made with the middleware that is set then. */
const lateRows: Row[] = [
  { name: "httpNodeMiddleware that is replaced once the flows run, and a deploy", roots: ["separate"], settings: "httpNodeMiddleware: pass", host: "mount(); onceStarted(() => { settings.httpNodeMiddleware = guard; });", fresh: true, then: ["redeploy"], targets: guarded },
  { name: "httpNodeMiddleware that is set as the flows start", roots: ["separate"], host: 'mount(); RED.events.once("flows:starting", () => { settings.httpNodeMiddleware = guard; });', settings: "httpNodeMiddleware: undefined", fresh: true, targets: guarded },
  { name: "httpNodeCors that decides by the path", roots: ["equal", "separate"], settings: 'httpNodeCors: (request, done) => done(request.path === "/hook" && isEvil(request) ? new Error("no") : null, {})', targets: guarded },
  { name: "a guard behind something that decodes paths", roots: ["separate"], host: "app.use((request, response, next) => { try { request.url = decodeURI(request.url); } catch {} next(); }); app.use(hook, guard); mount();", targets: [...guarded, { target: "{root}/hoo%E2%84%AA", accepted: false }] },
]; // prettier-ignore

const nodeRows: Row[] = [
  { name: "a guard of a node that stands before it in the flow", plugin: guardNode, earlier: aGuard, fresh: true, targets: guarded },
  { name: "a guard of a node that stands after it in the flow", plugin: guardNode, later: aGuard, fresh: true, targets: unguarded },
  { name: "a guard of a node that stands after it in the flow, once that is deployed again", plugin: guardNode, later: aGuard, fresh: true, then: ["redeploy"], targets: guarded },
  { name: "a guard that a node adds once the flows run", plugin: "onChange(() => RED.httpNode.use(guard));", fresh: true, then: ["change"], targets: unguarded },
  { name: "a guard that a node adds once the flows run, and a deploy", plugin: "onChange(() => RED.httpNode.use(guard));", fresh: true, then: ["change", "redeploy"], targets: guarded },
  { name: "a guard that is added as the flows start", plugin: 'RED.events.once("flows:starting", () => RED.httpNode.use(guard));', fresh: true, targets: guarded },
  { name: "a node that listens to the server", plugin: 'RED.server.prependListener("request", (request) => { if (isEvil(request)) request.url = "/elsewhere"; });', targets: guarded },
]; // prettier-ignore

export const rows: Row[] = [
  ...settingRows,
  ...guardRows,
  ...disguisedRows,
  ...hostRows,
  ...bystanderRows,
  ...lateRows,
  ...nodeRows,
];
