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
  lets: boolean | Layout[];
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
  then?: ("redeploy" | "addGuard" | "call" | "change")[];
  targets: Target[];
  bystanders?: Bystander[];
}

/** The ways to write the endpoint's path, the wrong ones as well, and what Express makes of each. */
const spellings: Target[] = [
  { target: "{root}/hook", lets: true },
  { target: "{root}/HOOK", lets: true },
  { target: "{ROOT}/hook", lets: true },
  { target: "{root}/hook/", lets: true },
  { target: "{root}/hook//", lets: false },
  { target: "{root}/hook?x", lets: true },
  { target: "{root}/hook?x=/y?z", lets: true },
  { target: "{root}/hook#x", lets: true },
  { target: "{root}/hook;a=1", lets: false },
  { target: "{root}/./hook", lets: false },
  { target: "{root}/x/../hook", lets: false },
  { target: "{root}/hook%2f", lets: false },
  { target: "{root}/hook%2F", lets: false },
  { target: "{root}/h%6Fok", lets: false },
  { target: "{root}%2Fhook", lets: false },
  { target: "{root}/hook%", lets: false },
  { target: "{root}//hook", lets: ["separate", "nested"] },
  { target: "/{root}/hook", lets: false },
  { target: "//x{root}/hook", lets: false },
  { target: "{root}\\hook", lets: false },
  { target: "{root}/hook\xa0", lets: false },
  { target: "{root}/hook\xa0#", lets: false },
  { target: "http://host{root}/hook", lets: true },
  { target: "HTTP://host{root}/hook?x", lets: true },
  { target: "http://u:p@host:1{root}/hook", lets: true },
  { target: "javascript://x{root}/hook", lets: false },
  { target: "http://x;y{root}/hook", lets: false },
  { target: "http://x'{root}/hook", lets: false },
  { target: "http://x?y{root}/hook", lets: false },
  { target: "http://x\\{root}/hook", lets: false },
  { target: "file://{root}/hook", lets: true },
  { target: "mailto://x{root}/hook", lets: true },
];

/** What a guard refuses. */
const evil = { "X-Evil": "yes" };
/** The same requests, all of them evil. */
const kept = (targets: Target[]) => targets.map((target): Target => ({ ...target, headers: evil, lets: false }));

/** For what is behind a guard, and for what is not. */
const guarded: Target[] = [{ lets: true }, { headers: evil, lets: false }];
const unguarded: Target[] = [{ lets: true }, { headers: evil, lets: true }];
/** For what is behind a guard that is mounted at a path: another way to write it must not lead past. */
const spelled = [...spellings, ...kept(spellings.filter(({ target }) => target !== "{root}//hook"))];
const never: Target[] = [{ lets: false }];

const form = { "Content-Type": "application/x-www-form-urlencoded" };
const text = { "Content-Type": "text/plain" };
/** JSON by its suffix alone (RFC 6839 §3.1), which Express's parsers do not take for JSON by themselves. */
const vendor = { "Content-Type": "application/vnd.x+json" };
const binary = { "Content-Type": "application/octet-stream" };
/** For guards that read the body, where it is parsed. */
const guardedByBody: Target[] = [
  { body: '{"a":[1,{"b":"c"}]}', lets: true },
  { body: '{"evil":true}', lets: false },
  { headers: form, body: "a=1", lets: true },
  { headers: form, body: "evil=1", lets: false },
];
const unguardedByBody = guardedByBody.map((target): Target => ({ ...target, lets: true }));

/**
 * Ways to add a guard to an app `on`, in front of what is at `hook` there; and where each is tried: in the host
 * application, in the admin app, in the app for HTTP nodes. What the admin app's own parsers have read, no other reads.
 */
const guards: [where: string, how: string, code: string, targets?: Target[]][] = [
  ["han", "for everything", "on.use(guard);"],
  ["han", "at the path", "on.use(hook, guard);", spelled],
  ["han", "as a route for POST", 'on.post("*", guard);', spelled],
  ["hn", "as a route for POST at the path", "on.route(hook).post(guard);", spelled],
  ["hn", "as a route for all methods", 'on.all("*", guard);'],
  ["h", "as a route for all methods at the path", "on.all(hook, guard);", spelled],
  ["h", "at several paths", 'on.use(["/elsewhere", hook], guard);', spelled],
  ["h", "at a regular expression", "on.use(/^.*ook/i, guard);"],
  ["h", "at a pattern", 'on.use("/*ook", guard);'],
  ["h", "at a pattern with a parameter", 'on.use(hook.replace("hook", ":any"), guard);', spelled],
  ["han", "for a parameter", 'on.param("any", named("byName")); on.all("*/:any", pass);'],
  ["h", "for a parameter of a router", 'const router = express.Router(); router.param("any", named("byName")); router.all("*/:any", pass); on.use(router);'],
  ["han", "in a router in a router", "const outer = express.Router(); const inner = express.Router(); inner.post(/./, guard); outer.use(inner); on.use(outer);"],
  ["ha", "in a route of an app of its own", 'const sub = express(); sub.post("*", guard); on.use(sub);'],
  ["h", "in an app at the path", "const sub = express(); sub.use(guard); on.use(hook, sub);", spelled.filter(({ target }) => !/^(file|mailto)/.test(target ?? ""))],
  ["han", "that calls back with an error", "on.use((request, response, next) => next(isEvil(request) ? Object.assign(new Error(), { status: 403 }) : undefined));"],
  ["h", "that throws", "on.use((request, response, next) => { verify(request); next(); });"],
  ["h", "that answers later", "on.use((request, response, next) => setImmediate(guard, request, response, next));"],
  ["hn", "that leaves its route for those who may", 'on.post("*", (request, response, next) => next(isEvil(request) ? undefined : "route"), refuse);'],
  ["h", "in the second handler of a route", 'on.route("*").all(pass).post(guard);'],
  ["hn", "that checks what a parser of JSON reads", "on.use(express.json({ verify }));"],
  ["h", "that checks what a parser of forms reads", "on.use(express.urlencoded({ extended: true, verify }));", [{ headers: form, body: "a=1", lets: true }, { headers: { ...form, ...evil }, body: "a=1", lets: false }]],
  ["h", "that checks what a parser of text reads", "on.use(express.text({ verify }));", [{ headers: text, body: "a", lets: true }, { headers: { ...text, ...evil }, body: "a", lets: false }]],
  ["h", "that checks what a parser of bytes reads", "on.use(express.raw({ verify }));", [{ headers: binary, body: "a", lets: true }, { headers: { ...binary, ...evil }, body: "a", lets: false }]],
  ["h", "that limits the length of JSON", 'on.use(express.json({ limit: 2000, type: (request) => request.method === "POST" && request.url.endsWith("hook") }));', [{ body: '{"a":1}', lets: true }, { body: JSON.stringify("a".repeat(2000)), lets: false }]],
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

/** What Express and Node-RED call layers of their own, in the app where each is. */
const disguisedRows: Row[] = [
  ...["query", "expressInit", "rawBodyCapture", "mounted_app", "jsonParser", "corsMiddleware"].map((name): Row => ({
    name: `a guard in the host application that is called ${name}`, roots: ["separate"], host: `app.use(named("${name}")); mount();`, targets: guarded,
  })),
  ...["expressInit", "jsonParser", "urlencodedParser", "initialize", "mounted_app", "corsMiddleware"].map((name): Row => ({
    name: `a guard in the admin app that is called ${name}`, host: `RED.httpAdmin.use(named("${name}")); mount();`, targets: guarded,
  })),
  ...["query", "expressInit", "bound dispatch"].map((name): Row => ({
    name: `a guard in the app for HTTP nodes that is called ${name}`, roots: ["separate"], plugin: `RED.httpNode.use(named("${name}"));`, targets: guarded,
  })),
]; // prettier-ignore

const basic = (credentials: string) => ({ Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` });
const signedIn = basic("user:password");
/** The MD5 digest of `password`, which Node-RED still takes. */
const account = '{ user: "user", pass: "5f4dcc3b5aa765d61d8327deb882cf99" }';
const withAccount: Target[] = [
  ...spellings.map((target): Target => ({ ...target, headers: signedIn })),
  ...spellings.map((target): Target => ({ ...target, lets: false })),
  { headers: basic("user:wrong"), lets: false },
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
  { name: "tokens for the editor", settings: 'adminAuth: { tokens: async () => null, default: { permissions: "*" } }', roots: ["equal"], plain: true, targets: spellings },

  { name: "httpNodeAuth as an account", roots: ["equal", "nested"], settings: `httpNodeAuth: ${account}`, targets: withAccount },
  { name: "httpNodeAuth as a function", roots: ["separate"], settings: "httpNodeAuth: guard", targets: spelled },
  { name: "httpNodeAuth as functions", settings: "httpNodeAuth: [pass, [pass, [guard]]]", targets: spelled },
  { name: "httpNodeAuth that is called like a layer of Node-RED's", settings: 'httpNodeAuth: named("rawBodyCapture")', targets: guarded },
  { name: "httpNodeAuth that looks into the body", settings: "httpNodeAuth: guardBody", targets: guardedByBody },
  { name: "httpAuth", roots: ["separate"], settings: `httpAuth: ${account}`, fresh: true, targets: withAccount },
  { name: "httpAdminAuth in front of all", roots: ["nested"], settings: `httpAdminAuth: ${account}`, fresh: true, targets: withAccount },

  { name: "httpNodeMiddleware as a function", roots: ["separate", "nested"], settings: "httpNodeMiddleware: guard", targets: spelled },
  { name: "httpNodeMiddleware as functions within functions", settings: "httpNodeMiddleware: [pass, [pass, [guard]]]", targets: guarded },
  { name: "httpNodeMiddleware as no functions at all", settings: "httpNodeMiddleware: []", targets: unguarded },
  { name: "httpNodeMiddleware as something else", settings: 'httpNodeMiddleware: "guard"', targets: unguarded },
  { name: "httpNodeMiddleware as an app", settings: "httpNodeMiddleware: express().use(guard)", targets: guarded },
  { name: "httpNodeMiddleware as a route of a router", settings: 'httpNodeMiddleware: express.Router().post("/hook", guard)', targets: spelled },
  { name: "httpNodeMiddleware that is called like a layer of Express's", settings: 'httpNodeMiddleware: named("query")', targets: guarded },
  { name: "httpNodeMiddleware that leaves the route", settings: 'httpNodeMiddleware: (request, response, next) => next(isEvil(request) ? "route" : undefined)', targets: guarded },
  { name: "httpNodeMiddleware that throws", settings: "httpNodeMiddleware: (request, response, next) => { verify(request); next(); }", targets: guarded },
  { name: "httpNodeMiddleware that handles errors only", settings: "httpNodeMiddleware: (error, request, response, next) => refuse(request, response)", targets: unguarded },
  { name: "httpNodeMiddleware with something that is no function", settings: 'httpNodeMiddleware: [pass, "guard"]', targets: never },
  { name: "httpNodeMiddleware with something within that is no function", settings: "httpNodeMiddleware: [[pass], [[undefined]]]", targets: never },
  { name: "httpNodeMiddleware that looks into the body", settings: "httpNodeMiddleware: guardBody", targets: guardedByBody },
  { name: "httpNodeMiddleware that looks for the body where none is read", settings: "httpNodeMiddleware: guardBody", roots: ["separate"], targets: unguardedByBody },
  { name: "httpNodeMiddleware that looks into a body which Node-RED's parsers do not read", settings: "httpNodeMiddleware: guardBody", targets: [
    { headers: { "Content-Type": "application/json; charset=iso-8859-1" }, body: '{"evil":true}', lets: false, ours: 403 },
    { headers: { ...form, "Content-Type": `${form["Content-Type"]}; charset=iso-8859-1` }, body: "evil=1", lets: false, ours: 403 },
  ] },
  { name: "httpNodeMiddleware that looks into forms which can be read in more ways than one", settings: "httpNodeMiddleware: guardBody", targets: [
    { headers: form, body: "evil[a]=1", lets: false },
    { headers: form, body: "evil[]=1", lets: false },
    { headers: form, body: "[evil]=1", lets: false },
    { headers: form, body: "a=1&a=2&__proto__=1", lets: true },
  ] },
  { name: "httpNodeMiddleware that reads a form and fills the body that it finds", settings: 'httpNodeMiddleware: (request, response, next) => { const chunks = []; request.on("data", (chunk) => chunks.push(chunk)); request.on("end", () => { request.body.read = String(Buffer.concat(chunks)); request._body = true; next(); }); }', targets: [{ headers: { "Content-Type": "multipart/form-data; boundary=x" }, body: "--x--", lets: true }] },
  { name: "httpNodeMiddleware that looks into a body with a coding that changes nothing", settings: "httpNodeMiddleware: guardBody", targets: [{ headers: { "Content-Encoding": "identity" }, body: '{"evil":true}', lets: false }, { headers: { "Content-Encoding": "identity" }, body: '{"a":1}', lets: true }] },
  { name: "httpNodeMiddleware that puts a copy in the place of the body", settings: "httpNodeMiddleware: (request, response, next) => { request.body = { ...request.body }; next(); }", targets: [{ body: '{"a":1}', lets: true }, { headers: text, body: "text", lets: true }] },
  { name: "a layer that puts a copy in the place of the body before it is read", roots: ["equal", "separate"], host: "app.use((request, response, next) => { if (request.body) request.body = { ...request.body }; next(); }); mount();", targets: [{ body: '{"a":1}', lets: true }, { headers: text, body: "text", lets: true }] },
  { name: "httpNodeMiddleware that has locals of its own", settings: "httpNodeMiddleware: (request, response, next) => { response.locals = {}; delete request.body.evil; next(); }", targets: [{ body: '{"a":1,"evil":true}', lets: true }] },
  { name: "httpNodeMiddleware that changes the body", settings: "httpNodeMiddleware: (request, response, next) => { delete request.body.evil; next(); }", targets: [{ body: '{"a":1,"evil":true}', lets: true }, { headers: form, body: "a=1&evil=1", lets: true }] },
  { name: "httpNodeMiddleware that replaces the body", settings: "httpNodeMiddleware: (request, response, next) => { request.body = { clean: true }; next(); }", targets: [{ body: '{"a":1}', lets: true }] },
  { name: "httpNodeMiddleware that asks for the route", settings: 'httpNodeMiddleware: (request, response, next) => request.route.path === "/hook" ? guard(request, response, next) : next()', targets: [{ lets: true }, { headers: evil, lets: false }, { target: "{root}/HOOK/", headers: evil, lets: false }] },
  { name: "httpAdminMiddleware that reads the body and leaves nothing", settings: 'httpAdminMiddleware: (request, response, next) => { if (request.url === "/hook") { request.resume(); request.on("end", next); } else next(); }', roots: ["equal"], targets: [{ lets: false, ours: 500 }] },
  { name: "httpNodeMiddleware that reads the body and looks into it", roots: ["separate"], settings: "httpNodeMiddleware: [express.json(), express.urlencoded({ extended: true }), guardBody]", targets: guardedByBody },
  { name: "httpNodeMiddleware that checks what its parser reads", settings: "httpNodeMiddleware: [express.json({ verify })]", roots: ["separate"], targets: guarded },
  { name: "httpNodeMiddleware that limits the length", settings: "httpNodeMiddleware: express.json({ limit: 10 })", roots: ["separate"], targets: [{ lets: true }, { body: '{"a":"bcdefghijkl"}', lets: false }] },
  { name: "httpNodeMiddleware whose parser gives another value", settings: "httpNodeMiddleware: express.json({ reviver: (key, value) => (value === 1 ? 2 : value) })", roots: ["separate"], targets: [{ lets: true }, { body: '{"a":{"b":[1]}}', lets: true }] },
  { name: "httpNodeMiddleware that sends requests elsewhere", settings: 'httpNodeMiddleware: (request, response, next) => { if (isEvil(request)) { request.url = "/elsewhere"; next("route"); } else next(); }', targets: guarded },

  { name: "httpAdminMiddleware in front of all", settings: "httpAdminMiddleware: guard", targets: spelled },
  { name: "httpAdminMiddleware elsewhere", settings: "httpAdminMiddleware: guard", roots: ["separate"], targets: unguarded },
  { name: "httpAdminMiddleware as an app", settings: "httpAdminMiddleware: express().use(guard)", roots: ["equal"], targets: guarded },
  { name: "httpAdminMiddleware as functions", settings: "httpAdminMiddleware: [pass, [guard]]", roots: ["equal"], targets: guarded },
  { name: "httpAdminMiddleware that is called like a layer of Node-RED's", settings: 'httpAdminMiddleware: named("jsonParser")', roots: ["equal"], targets: guarded },
  { name: "httpAdminMiddleware that leaves the app", settings: 'httpAdminMiddleware: (request, response, next) => next(isEvil(request) ? "router" : undefined)', roots: ["equal"], targets: unguarded },
  { name: "httpAdminMiddleware that checks what its parser of JSON reads", settings: "httpAdminMiddleware: express.json({ verify })", roots: ["equal"], targets: guarded },
  { name: "httpAdminMiddleware that checks what its parser of forms reads", settings: "httpAdminMiddleware: express.urlencoded({ extended: true, verify })", roots: ["equal"], targets: [{ headers: form, body: "a=1", lets: true }, { headers: { ...form, ...evil }, body: "a=1", lets: false }] },
  { name: "requireHttps in front of all", settings: "requireHttps: true", roots: ["equal"], fresh: true, targets: [{ lets: false }, { headers: { "X-Forwarded-Proto": "https" }, lets: true }] },
  { name: "httpAdminCors that fails", settings: 'httpAdminCors: { origin: (origin, done) => done(origin ? new Error("from there") : null, true) }', roots: ["equal"], targets: [{ lets: true }, { headers: { Origin: "http://x" }, lets: false }] },
  { name: "httpNodeCors", roots: ["separate"], settings: "httpNodeCors: {}", plain: true, targets: spellings, bystanders: [{ method: "OPTIONS", headers: { Origin: "http://x", "Access-Control-Request-Method": "POST" } }] },
  { name: "httpNodeCors that fails", settings: 'httpNodeCors: { origin: (origin, done) => done(origin ? new Error("from there") : null, true) }', targets: [{ lets: true }, { headers: { Origin: "http://x" }, lets: false }] },

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
  { name: "a parser of queries that throws", settings: 'httpServerOptions: { "query parser": (query) => { if (/evil/.test(query)) throw new Error("evil"); return {}; } }', targets: [{ target: "{root}/hook?x", lets: true }, { target: "{root}/hook?evil", lets: false }] },

]; // prettier-ignore

/** What Express makes of spellings once it minds the letter case. */
function withoutCases(targets: Target[]): Target[] {
  return targets.map((target) => {
    const { lets } = target;
    if (target.target === "{root}/HOOK") return { ...target, lets: false };
    // With equal roots there is nothing in it to write in another case.
    return target.target?.startsWith("{ROOT}") ? { ...target, lets: ["equal"] } : { ...target, lets };
  });
}

/** What Express makes of spellings once a slash at the end counts. */
function withoutSlashes(targets: Target[]): Target[] {
  return targets.map((target) => (target.target === "{root}/hook/" ? { ...target, lets: false } : target));
}

const asked = ["call", "change"] satisfies Row["then"];

const hostRows: Row[] = [
  { name: "a host that does nothing else", roots: ["separate", "nested"], host: "mount();", plain: true, targets: spellings },
  { name: "a host that minds the letter case", host: 'app.enable("case sensitive routing"); mount();', targets: withoutCases(spellings) },
  { name: "a host that is strict", roots: ["separate"], host: 'app.enable("strict routing"); mount();', targets: withoutSlashes(spellings) },
  { name: "a host that minds the letter case of what it guards", host: 'app.enable("case sensitive routing"); app.use(hook, guard); mount();', targets: [...withoutCases(spellings), ...kept(spellings)] },
  { name: "a host whose nodes' app alone minds the letter case", host: 'RED.httpNode.enable("case sensitive routing"); mount();', roots: ["separate"], targets: [{ lets: true }, { target: "{root}/HOOK", lets: false }] },
  { name: "a host whose parser of queries throws", host: 'app.set("query parser", (query) => { if (/evil/.test(query)) throw new Error("evil"); return {}; }); mount();', targets: [{ target: "{root}/hook?x", lets: true }, { target: "{root}/hook?evil", lets: false }] },
  { name: "a guard between the admin app and the nodes", roots: ["equal", "separate"], host: "mountAdmin(); app.use(settings.httpNodeRoot, guard); mountNodes();", targets: spelled },
  { name: "a guard between the admin app and the nodes that looks into the body", roots: ["nested"], host: "mountAdmin(); app.use(guardBody); mountNodes();", targets: guardedByBody },
  { name: "a guard at the mount of the nodes", roots: ["separate"], host: "mountAdmin(); app.use(settings.httpNodeRoot, guard, RED.httpNode);", targets: spelled },
  { name: "a guard at a path, and targets that Express reads past it", roots: ["separate"], host: "app.use(hook, guard); mount();", targets: [...guarded, { target: "{root}\\hook#x", headers: evil, lets: false }, { target: "{root}//hook", headers: evil, lets: true }] },
  { name: "a guard in an app at the path, and targets that Express reads past it", roots: ["separate"], host: "app.use(hook, express().use(guard)); mount();", targets: [...guarded, { target: "file://{root}/hook", headers: evil, lets: true }] },
  { name: "a guard at a path of another letter case", host: "app.use(hook.toUpperCase(), guard); mount();", targets: spelled },
  { name: "a guard for a path that minds the letter case", host: 'app.use(express.Router({ caseSensitive: true }).use(hook, guard)); mount();', targets: [...spellings, { headers: evil, lets: false }, { target: "{root}/HOOK", headers: evil, lets: true }] },
  { name: "a guard that fails, and a handler that forgives", host: "app.use((request, response, next) => next(isEvil(request) ? new Error() : undefined)); app.use((error, request, response, next) => next()); mount();", targets: unguarded },
  { name: "a guard that fails, and a handler behind Node-RED that answers", host: 'app.use((request, response, next) => next(isEvil(request) ? new Error() : undefined)); mount(); app.use((error, request, response, next) => response.status(403).send("refused at last"));', targets: guarded },
  { name: "a guard that rejects", host: 'process.on("unhandledRejection", ({ response }) => refuse(undefined, response)); app.use(async (request, response, next) => { if (isEvil(request)) throw { response }; next(); }); mount();', targets: guarded },
  { name: "a guard that leaves the app", host: 'app.use((request, response, next) => next(isEvil(request) ? "router" : undefined)); mount();', targets: guarded },
  { name: "files in front, with nothing but GET allowed", host: 'app.use(hook, express.static(process.env.STATIC, { fallthrough: false })); mount();', targets: never },
  { name: "a host that refuses to continue", host: 'server.on("checkContinue", refuse); mount();', targets: [{ lets: true }, { headers: { Expect: "100-continue" }, lets: false }] },

  { name: "the listener of Node-RED's command", host: "mount(); listen(function(req,res) {app(req,res);});", plain: true, targets: spellings },
  { name: "the listener of Node-RED's command around another app", host: "mount(); const real = app; { const app = express(); app.use(guard); app.use(real); listen(function(req,res) {app(req,res);}); }", targets: guarded },
  { name: "the listener of Node-RED's command around a function around the app", host: "mount(); const real = app; { const app = (request, response) => (isEvil(request) ? refuse(request, response) : real(request, response)); listen(function(req,res) {app(req,res);}); }", targets: guarded },
  { name: "a listener that asks a guard first", roots: ["equal", "separate"], host: "mount(); listen((request, response) => guard(request, response, () => app(request, response)));", targets: guarded },
  { name: "a listener that lets a parser read first", roots: ["equal", "separate"], host: "mount(); const parse = express.json({ verify }); listen((request, response) => parse(request, response, (error) => (error ? refuse(request, response) : app(request, response))));", targets: guarded },
  { name: "a listener that sends requests elsewhere, before Express's", host: 'mount(); server.prependListener("request", (request) => { if (isEvil(request)) request.url = "/elsewhere"; });', targets: guarded },
  { name: "a listener that sends requests to the endpoint", host: 'mount(); server.prependListener("request", (request) => { if (isEvil(request)) request.url = hook; });', targets: [{ lets: true }, { target: "/elsewhere", lets: false }, { target: "/elsewhere", headers: evil, lets: true }] },
  { name: "a wrapped emit of the server", host: 'mount(); const { emit } = server; server.emit = function (event, request, response) { return event === "request" && isEvil(request) ? refuse(request, response) : emit.apply(this, arguments); };', targets: guarded },
  { name: "another server than the one that Node-RED knows", host: 'mount(); const outer = require("node:http").createServer((request, response) => guard(request, response, () => app(request, response))); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ port: outer.address().port }));', targets: guarded },
  { name: "a replaced handle of the app", host: "mount(); const { handle } = app; app.handle = (request, response, next) => (isEvil(request) ? refuse(request, response) : handle.call(app, request, response, next));", targets: guarded },
  { name: "a replaced handle of the app's router", host: "mount(); const router = app._router; const { handle } = router; router.handle = (request, response, next) => (isEvil(request) ? refuse(request, response) : handle.call(router, request, response, next));", targets: guarded },
  { name: "a replaced router of the app", host: "mount(); const inner = app._router; app._router = express.Router().use(guard); app._router.use(inner);", targets: guarded },
  { name: "a guard in a layer's match", host: "mount(); const [layer] = app._router.stack; const { match } = layer; app._router.stack.unshift(Object.create(layer, { match: { value: () => false } })); app.use(pass); app._router.stack.unshift(app._router.stack.pop()); app._router.stack[0].handle_request = guard;", targets: guarded },

  { name: "a guard that comes once the flows run", roots: ["equal", "separate"], host: "mount(); onceStarted(() => { app.use(guard); app._router.stack.unshift(app._router.stack.pop()); });", targets: guarded },
  { name: "a guard that comes for the nodes once the flows run", host: "mount(); onceStarted(() => { RED.httpNode.use(guard); RED.httpNode._router.stack.unshift(RED.httpNode._router.stack.pop()); });", fresh: true, targets: guarded },
  { name: "a handle replaced once the flows run", host: "mount(); onceStarted(() => { const { handle } = app; app.handle = (request, response, next) => (isEvil(request) ? refuse(request, response) : handle.call(app, request, response, next)); });", targets: guarded },
  { name: "a listener replaced once the flows run", host: "mount(); onceStarted(() => listen((request, response) => guard(request, response, () => app(request, response))));", targets: guarded },
  { name: "a listener added once the flows run", host: 'mount(); onceStarted(() => server.prependListener("request", (request) => { if (isEvil(request)) request.url = "/elsewhere"; }));', targets: guarded },
  { name: "an emit wrapped once the flows run", host: 'mount(); onceStarted(() => { const { emit } = server; server.emit = function (event, request, response) { return event === "request" && isEvil(request) ? refuse(request, response) : emit.apply(this, arguments); }; });', targets: guarded },

  { name: "a guard that comes once a request has been served", roots: ["equal", "separate"], host: "mount(); onChange(() => { app.use(guard); app._router.stack.unshift(app._router.stack.pop()); });", fresh: true, then: asked, targets: guarded },

  { name: "Node-RED in an app of its own", host: "const inner = express(); inner.use(guard); mount(inner); app.use(inner);", targets: guarded },
  { name: "Node-RED in an app of its own, elsewhere", host: 'const inner = express(); mount(inner); app.use("/hub", guard, inner); mountAdmin();', roots: ["separate"], targets: [{ target: "/hub/api/hook", lets: true }, { target: "/hub/api/hook", headers: evil, lets: false }, { lets: false }] },
  { name: "Node-RED behind a router", roots: ["separate"], host: "const router = express.Router(); router.use(guard); mount(router); app.use(router);", targets: guarded },
  { name: "Node-RED's apps as functions", host: 'listen((request, response) => (settings.httpAdminRoot === "/admin" && request.url.startsWith("/admin") ? ((request.url = request.url.slice(6)), RED.httpAdmin(request, response)) : guard(request, response, () => RED.httpNode(request, response))));', roots: ["separate"], targets: [{ target: "/hook", lets: true }, { target: "/hook", headers: evil, lets: false }] },
  { name: "the nodes' app as the server's only listener", host: 'mountAdmin(); RED.httpNode.use("/admin", (request, response, next) => RED.httpAdmin(request, response, next)); listen(RED.httpNode);', roots: ["separate"], targets: [{ target: "/hook", lets: true }, { lets: false }] },
  { name: "Node-RED called by a layer", host: "app.use((request, response, next) => guard(request, response, () => RED.httpAdmin(request, response, () => RED.httpNode(request, response, next))));", roots: ["equal"], targets: guarded },
  { name: "the nodes at several mounts", host: 'mountAdmin(); app.use("/other", guard); app.use(["/api", "/other"], RED.httpNode);', roots: ["separate"], targets: [...unguarded, { target: "/other/hook", lets: true }, { target: "/other/hook", headers: evil, lets: false }] },
  { name: "the nodes mounted twice, guarded the second time", host: 'mountAdmin(); app.use("/api", RED.httpNode); app.use("/guarded", guard, RED.httpNode);', roots: ["separate"], targets: [...unguarded, { target: "/guarded/hook", lets: true }, { target: "/guarded/hook", headers: evil, lets: false }] },
  { name: "the nodes mounted twice, guarded the first time", host: 'mountAdmin(); app.use("/guarded", guard, RED.httpNode); app.use("/api", RED.httpNode);', roots: ["separate"], targets: [...unguarded, { target: "/guarded/hook", lets: true }, { target: "/guarded/hook", headers: evil, lets: false }] },
  { name: "the nodes mounted a second time, with a guard, once a request has been served", host: 'mount(); onChange(() => { app.use("/guarded", guard, RED.httpNode); });', roots: ["separate"], fresh: true, then: asked, targets: [...unguarded, { target: "/guarded/hook", lets: true }, { target: "/guarded/hook", headers: evil, lets: false }] },
  { name: "the nodes mounted on another app as well, the guarded one of which is served", roots: ["equal", "separate"], host: "app.use(guard); mount(); mountNodes(express());", targets: guarded },
  { name: "the nodes mounted on another app before, the guarded one of which is served", roots: ["equal", "separate"], host: "const real = express(); real.use(guard); mount(real); mount(); listen(real);", targets: guarded },
  { name: "the nodes mounted on another app as well, which another layer leads evil to", roots: ["separate"], host: 'mount(); const other = express(); other.use(guard); onChange(() => { mountNodes(other); listen((request, response) => (isEvil(request) ? other : app)(request, response)); });', fresh: true, then: asked, targets: guarded },
  { name: "the nodes mounted on a guarded app as well, which another server serves", roots: ["separate"], host: 'const other = express(); other.use(hook, guard); mount(other); mount(); const outer = require("node:http").createServer(other); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ port: outer.address().port }));', targets: spelled },
  { name: "a guard at the path, in the listener of another server", roots: ["equal", "separate"], host: 'mount(); const guarding = express().use(hook, guard).use((request, response) => app(request, response)); const outer = require("node:http").createServer(guarding); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ port: outer.address().port }));', targets: spelled },
  { name: "the nodes at a regular expression", host: "mountAdmin(); app.use(guard); app.use(/^\\/api/, RED.httpNode);", roots: ["separate"], targets: guarded },
  { name: "the nodes at a pattern", host: 'mountAdmin(); app.use(guard); app.use("/ap*i", RED.httpNode);', roots: ["separate"], targets: guarded },
  { name: "the nodes at a pattern with a parameter", host: 'mountAdmin(); app.param("any", named("byName")); app.use("/:any", RED.httpNode);', roots: ["separate"], targets: guarded },
  { name: "the nodes elsewhere than the settings say", host: 'mountAdmin(); app.use("/elsewhere", guard); app.use("/elsewhere", RED.httpNode);', roots: ["separate"], targets: [{ lets: false }, { target: "/elsewhere/hook", lets: true }, { target: "/elsewhere/hook", headers: evil, lets: false }] },

  { name: "a layer that sends requests away from the endpoint", host: 'app.use((request, response, next) => { if (isEvil(request)) request.url = "/elsewhere"; next(); }); mount();', targets: guarded },
  { name: "a layer that sends requests to the endpoint", host: 'app.use("/friendly", (request, response, next) => { request.baseUrl = ""; request.url = hook; next(); }); app.use((request, response, next) => { if (request.url === "/friend") request.url = hook; next(); }); mount();', targets: [{ lets: true }, { target: "/friend", lets: true }] },
  { name: "a layer that sends requests away behind the admin app", host: 'mountAdmin(); app.use((request, response, next) => { if (isEvil(request)) request.url = "/elsewhere"; next(); }); mountNodes();', targets: guarded },
  { name: "a layer that sends requests to the endpoint behind the admin app", host: 'mountAdmin(); app.use((request, response, next) => { if (request.url === "/friend") request.url = hook; next(); }); mountNodes();', targets: [{ lets: true }, { target: "/friend", lets: true }] },
  { name: "a layer that changes what Express takes for the path", host: 'app.use((request, response, next) => { if (isEvil(request)) Object.assign(request._parsedUrl, { pathname: "/elsewhere" }); next(); }); mount();', targets: guarded },
  { name: "a layer that changes the method", host: 'app.use((request, response, next) => { request.method = request.get("X-Method") ?? request.method; next(); }); mount();', targets: [{ lets: true }, { headers: { "X-Method": "PUT" }, lets: false, ours: 405 }, { method: "PUT", headers: { "X-Method": "POST" }, lets: true }] },
  { name: "a parser that gives another value", roots: ["equal", "separate"], host: "app.use(express.json({ reviver: (key, value) => (value === 1 ? 2 : value), type: (request) => /hook/.test(request.url) })); mount();", targets: [{ lets: true }, { body: '{"a":{"b":[1]}}', lets: true }] },
  { name: "a parser of forms for all types, and a guard that looks into what it leaves", roots: ["equal", "separate"], host: 'app.use(express.urlencoded({ extended: true, type: (request) => /hook/.test(request.url) }), guardBody); mount();', targets: [{ body: '{"a":1}', lets: true }, { body: '{"evil":true}', lets: true }, { body: "evil=1", lets: false }, { headers: vendor, body: '{"evil":true}', lets: true }, { headers: text, body: "evil=a]=1", lets: true }] },
  { name: "a parser of JSON for all types, and a guard that looks into what it leaves", roots: ["equal", "separate"], host: 'app.use(express.json({ type: "*/*" }), guardBody); mount();', targets: [{ headers: vendor, body: '{"a":1}', lets: true }, { headers: vendor, body: '{"evil":true}', lets: false }, { headers: form, body: '{"a":1}', lets: true }, { headers: form, body: '{"evil":true}', lets: false }] },
  { name: "parsers of all kinds", roots: ["equal", "separate"], host: 'app.use(express.json({ strict: false }), express.urlencoded({ extended: true }), express.text({ type: "text/*" }), express.raw()); mount();', targets: [{ body: '"scalar"', lets: true }, { body: "null", lets: true }, { headers: form, body: "a[b]=1&a[c][]=2", lets: true }, { headers: text, body: "text", lets: true }, { headers: { "Content-Type": "text/html" }, body: "<p>", lets: true }, { headers: binary, body: "bytes", lets: true }] },
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
  { name: "virtual hosts, told apart by a layer in front", roots: ["equal", "separate", "nested"], host: `${other} app.use((request, response, next) => { const at = { "other.example": other, "raw.example": raw }[request.headers.host]; if (at) at(request, response, next); else next(); }); mount();`, targets: [{ lets: true }], bystanders: otherHosts },
  { name: "virtual hosts, told apart by the server's listener", roots: ["equal", "separate"], host: `${other} mount(); listen((request, response) => ({ "other.example": other, "raw.example": raw }[request.headers.host] ?? app)(request, response));`, targets: [{ lets: true }], bystanders: otherHosts },
  { name: "virtual hosts, Node-RED one of them", roots: ["separate"], host: `${other} const hub = express(); mount(hub); app.use((request, response, next) => ({ "other.example": other, "raw.example": raw }[request.headers.host] ?? hub)(request, response, next));`, targets: [{ lets: true }], bystanders: otherHosts },
  { name: "virtual hosts between the admin app and the nodes", host: `${other} mountAdmin(); app.use((request, response, next) => { if (request.headers.host === "other.example") other(request, response, next); else next(); }); mountNodes();`, targets: [{ lets: true }], bystanders: otherHosts.filter(({ headers }) => headers === atOther) },
  { name: "a router that hides where Node-RED is, and another route at the nodes' own root", host: `${other} const router = express.Router(); mount(router); app.use("/hub", router); mountAdmin(); app.use(settings.httpNodeRoot, other);`, roots: ["separate"], targets: [{ target: "/hub/api/hook", lets: true }], bystanders: [{ status: 200, says: '/api/hook {"a":1}' }, { target: "/api/h%6Fok", status: 200, says: '/api/h%6Fok {"a":1}' }, { method: "GET", status: 200, says: "/api/hook {}" }] },
  { name: "another app behind Node-RED at the same path", roots: ["equal", "separate"], host: `${other} mount(); app.use(settings.httpNodeRoot, other);`, targets: [{ lets: true }], bystanders: [
    { target: "{root}/elsewhere", status: 200 },
    { target: "{root}/hook/below", status: 200 },
    { target: "{root}/elsewh%65re", status: 200 },
    { method: "PUT", status: 200 },
    { method: "GET", status: 200 },
  ] },
  { name: "another app behind Node-RED that reads bodies itself", host: `${other} mount(); app.use(raw);`, roots: ["separate"], targets: [{ lets: true }], bystanders: [
    { target: "{root}/elsewhere", status: 200, says: '/api/elsewhere {"a":1}' },
    { method: "PUT", status: 200, says: '/api/hook {"a":1}' },
    { method: "GET", status: 200, says: "/api/hook " },
  ] },
  { name: "a page behind Node-RED at the same path", roots: ["equal", "separate"], host: 'mount(); app.get(hook, (request, response) => response.send("a page"));', plain: true, targets: spellings, bystanders: [
    { method: "GET", status: 200, says: "a page" },
    { method: "HEAD", status: 200, says: "" },
    { target: "{root}/HOOK/?x", method: "GET", status: 200, says: "a page" },
  ] },
  { name: "a page that comes behind Node-RED once a request has been served", roots: ["equal", "separate"], host: 'mount(); onChange(() => { app.all(hook, (request, response) => response.send("a page")); });', fresh: true, then: asked, targets: [{ lets: true }], bystanders: [
    // With equal roots, each of them looks for a file first: so the last word moves while others are on their way.
    ...Array.from({ length: 5 }, () => ({ method: "GET", status: 200, says: "a page" })),
    { target: "{root}/HOOK/?x", method: "DELETE", status: 200, says: "a page" },
  ] },
  { name: "a page in front of Node-RED at the same path", host: 'app.get(hook, (request, response) => response.send("a page")); mount();', targets: [{ lets: true }], bystanders: [{ method: "GET", status: 200, says: "a page" }] },
  { name: "files behind Node-RED", host: "mount(); app.use(settings.httpNodeRoot, express.static(process.env.STATIC));", targets: [{ lets: true }], bystanders: [{ method: "GET", status: 200, says: "a file" }, { target: "{root}/page.txt", method: "GET", status: 200, says: "another file" }] },
  { name: "files in front of Node-RED", host: "app.use(settings.httpNodeRoot, express.static(process.env.STATIC)); mount();", targets: [{ lets: true }], bystanders: [{ method: "GET", status: 200, says: "a file" }] },
  { name: "a page for all that is not found", host: 'mount(); app.get("*", (request, response) => response.send("the one page"));', targets: [{ lets: true }], bystanders: [{ method: "GET", status: 200, says: "the one page" }, { target: "{root}/elsewhere", method: "GET", status: 200, says: "the one page" }] },
  { name: "a page of another node at the same path", plugin: 'RED.httpNode.get("/hook", (request, response) => response.send("a page"));', targets: [{ lets: true }], bystanders: [{ method: "GET", status: 200, says: "a page" }] },
  { name: "a route of another node at the same path for another method", plugin: 'RED.httpNode.put("/hook", express.json(), (request, response) => response.send(request.body));', targets: [{ lets: true }], bystanders: [{ method: "PUT", status: 200, says: '{"a":1}' }] },
  { name: "a router of another node below the endpoint's path", plugin: 'RED.httpNode.use("/hook/below", express.json(), (request, response) => response.send(request.body));', targets: [{ lets: true }], bystanders: [{ target: "{root}/hook/below", status: 200, says: '{"a":1}' }] },
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
const afterwards: Target[] = [
  { target: "{root}/hook", lets: true },
  { target: "{root}/hook?guarded", lets: false },
];

/** Nodes are made with the middleware that is set then. */
const lateRows: Row[] = [
  ...Object.entries({
    "pushed once the flows run, and a deploy": ["[pass]", "onceStarted(() => settings.httpNodeMiddleware.push(guard));"],
    "replaced once the flows run, and a deploy": ["pass", "onceStarted(() => { settings.httpNodeMiddleware = guard; });"],
    "set once the flows run, and a deploy": ["undefined", "onceStarted(() => { settings.httpNodeMiddleware = guard; });"],
    "set as the flows start": ["undefined", 'RED.events.once("flows:starting", () => { settings.httpNodeMiddleware = guard; });'],
  }).map(([when, [middleware, later]]): Row => ({
    name: `httpNodeMiddleware that is ${when}`, roots: ["separate"], settings: `httpNodeMiddleware: ${middleware}`,
    host: `mount(); ${later}`, fresh: true, then: when.endsWith("deploy") ? ["redeploy"] : [], targets: guarded,
  })),
  { name: "httpNodeCors that decides by the path", roots: ["equal", "separate"], settings: 'httpNodeCors: (request, done) => done(request.path === "/hook" && isEvil(request) ? new Error("no") : null, {})', targets: guarded },
  { name: "httpNodeCors that asks Express for a field", roots: ["separate"], settings: 'httpNodeCors: (request, done) => done(request.get("x-evil") ? new Error("no") : null, {})', targets: guarded },
  { name: "a guard behind something that decodes paths", roots: ["separate"], host: "app.use((request, response, next) => { try { request.url = decodeURI(request.url); } catch {} next(); }); app.use(hook, guard); mount();", targets: [...guarded, { target: "{root}/hoo%E2%84%AA", lets: false }] },
]; // prettier-ignore

const nodeRows: Row[] = [
  { name: "a guard of a node that stands before it in the flow", plugin: guardNode, earlier: aGuard, fresh: true, targets: guarded },
  { name: "a guard of a node that stands after it in the flow", plugin: guardNode, later: aGuard, fresh: true, targets: unguarded },
  { name: "a guard of a node that stands after it in the flow, once that is deployed again", plugin: guardNode, later: aGuard, fresh: true, then: ["redeploy"], targets: guarded },
  { name: "a guard that a node adds once the flows run", fresh: true, then: ["addGuard"], targets: afterwards.map((target): Target => ({ ...target, lets: true })) },
  { name: "a guard that a node adds once the flows run, and a deploy", fresh: true, then: ["addGuard", "redeploy"], targets: afterwards },
  { name: "a guard that is added as the flows start", plugin: 'RED.events.once("flows:starting", () => RED.httpNode.use(guard));', fresh: true, targets: guarded },
  { name: "a guard that is added as the flows have started", plugin: 'RED.events.once("flows:started", () => RED.httpNode.use(guard));', fresh: true, targets: unguarded },
  { name: "a guard that a node puts in front of all", plugin: 'let root = RED.httpNode; while (root.parent) root = root.parent; root.use(guard); root._router.stack.unshift(root._router.stack.pop());', targets: guarded },
  { name: "a guard that a node puts in front of the nodes once the flows run", plugin: 'RED.events.once("flows:started", () => { RED.httpNode.use(guard); RED.httpNode._router.stack.unshift(RED.httpNode._router.stack.pop()); });', fresh: true, targets: guarded },
  { name: "a guard that a node puts in front of all once the flows run", plugin: 'RED.events.once("flows:started", () => { let root = RED.httpNode; while (root.parent) root = root.parent; root.use(guard); root._router.stack.unshift(root._router.stack.pop()); });', fresh: true, targets: guarded },
  { name: "a node that makes the nodes' app mind the letter case", plugin: 'RED.httpNode.enable("case sensitive routing");', fresh: true, targets: [{ lets: true }, { target: "{root}/HOOK", lets: false }] },
  { name: "a route that gets a guard once the flows run", plugin: 'const route = RED.httpNode.route("/hook"); RED.events.once("flows:started", () => route.post(guard));', fresh: true, targets: guarded },
  { name: "a layer that is replaced by a guard once the flows run", plugin: 'RED.httpNode.use("/elsewhere", pass); const { stack } = RED.httpNode._router; const at = stack.length - 1; RED.httpNode.use(guard); const other = stack.pop(); RED.events.once("flows:started", () => { const now = RED.httpNode._router.stack; now[now.findIndex((layer) => layer === stack[at] || layer.handle === pass)] = other; });', fresh: true, targets: guarded },
  { name: "a node that takes all routes away once a request has been served", roots: ["equal", "separate"], plugin: "onChange(() => { const router = RED.httpNode._router; router.stack = router.stack.filter(({ route }) => !route); });", fresh: true, then: asked, targets: never },
  { name: "a node that cuts all routes out once a request has been served, and a deploy", roots: ["equal", "separate"], plugin: "onChange(() => { const { stack } = RED.httpNode._router; for (let at = stack.length; at-- > 0; ) if (stack[at].route) stack.splice(at, 1); RED.httpNode.use(guard); });", fresh: true, then: [...asked, "redeploy"], targets: guarded },
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
