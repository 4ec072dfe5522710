/**
 * What may stand in front of Node-RED's nodes, and between them: a row for each kind of application, setting and node
 * that has a say in what reaches an HTTP node. A new kind of guard is a new row.
 */

import type { Layout } from "../harness/layouts";

/** In which all has the most to do with each other. */
export const defaultRoots: Layout = "equal";

/** A request: a POST of JSON to the endpoint, unless it says more. */
export interface Request {
  method?: string;
  /** `{root}` stands for the root of HTTP nodes, `{ROOT}` for the same in capitals. */
  target?: string;
  headers?: Record<string, string>;
  body?: string;
  /** What it is that has a say in it, where a row has several. */
  by?: string;
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
  /** The paths of the endpoints; `/hook` alone unless given. */
  paths?: string[];
  /** The methods of the endpoints; POST alone unless given. */
  methods?: string[];
  /** The layouts that it is tried in; equal roots alone unless given. */
  roots?: Layout[];
  /** Whether nothing unknown has a say: escapes in a target may be read then as the contract says. */
  plain?: true;
  /** Whether it depends on more of Node-RED than its Express: then each version is tried. */
  everyVersion?: true;
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
const otherMethods = ["GET", "PUT", "PATCH", "DELETE"];
const allMethods = ["POST", ...otherMethods];
const guardedByMethod = otherMethods.flatMap((method) =>
  guarded.map((target): Target => ({ ...target, method, by: method })),
);
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

/** What has a say in its own path `hook` alone, as code that knows it; and what becomes of requests for that. */
type Part = [what: string, code: string, targets?: Target[]];

/** Has parts in one application, each with an endpoint at a path of its own. */
function together(name: string, parts: Part[], applicationOf: (codes: string[]) => Partial<Row>): Row {
  const atPath = ({ target = "{root}/hook", ...rest }: Target, index: number, by: string) => {
    return { ...rest, by, target: target.replace(/h(?:oo|%6Fo)k/i, `$&${index}`) };
  };
  return {
    name,
    paths: parts.map((_, index) => `/hook${index}`),
    targets: parts.flatMap(([by, , targets = guarded], index) => targets.map((target) => atPath(target, index, by))),
    ...applicationOf(parts.map(([, code], index) => `((hook) => { ${code} })(hook + ${index});`)),
  };
}

/** The same, where each part is a handler. */
function byPath(name: string, parts: Part[], applicationOf: (handler: string) => Partial<Row>): Row {
  const handlers = parts.map(([, code], index) => `((hook) => ${code})("/hook${index}")`);
  return together(name, parts, () => applicationOf(`byPath([${handlers.join()}])`));
}

const atPath: Part = ["at the path", "on.use(hook, guard);", spelled];
const forParameter = 'on.param("other", named("byName")); on.all(hook.replace(/hook\\d+/, ":other($&)"), pass);';

/** Guards that may be in the host application as well as in the app for HTTP nodes. */
const guardsAnywhere: Part[] = [
  ["as a route for POST at the path", "on.route(hook).post(guard);", spelled],
  ["as a route for all methods", "on.all(hook, guard);"],
  ["for a parameter", forParameter],
  ["that calls back with an error", "on.use(hook, (request, response, next) => next(isEvil(request) ? Object.assign(new Error(), { status: 403 }) : undefined));"],
  ["that leaves its route for those who may", 'on.post(hook, (request, response, next) => next(isEvil(request) ? undefined : "route"), refuse);'],
  ["that checks what a parser of JSON reads", "on.use(hook, express.json({ verify }));"],
  ["that looks into the body", "on.use(hook, express.json(), express.urlencoded({ extended: true }), guardBody);", guardedByBody],
]; // prettier-ignore

const guardsOfHost: Part[] = [
  ["at the path", "on.use(hook, guard);", [...spelled, { target: "{root}\\hook#x", headers: evil, accepted: false }, { target: "{root}//hook", headers: evil, accepted: ["separate"] }]],
  ...guardsAnywhere,
  ["that is called mounted_app", 'on.use(hook, named("mounted_app"));'],
  ["at a regular expression", 'on.use(new RegExp(`${hook}$`, "i"), guard);'],
  ["at a pattern with a parameter", 'on.use(hook.replace(/hook\\d+/, ":any($&)"), guard);', spelled],
  ["in a router in a router", "const outer = express.Router(); const inner = express.Router(); inner.post(/./, guard); outer.use(inner); on.use(hook, outer);"],
  ["in an app at the path", "const sub = express(); sub.use(guard); on.use(hook, sub);", spelled.filter(({ target }) => !/^(file|mailto)/.test(target ?? ""))],
  ["that throws", "on.use(hook, (request, response, next) => { verify(request); next(); });"],
  ["that answers later", "on.use(hook, (request, response, next) => setImmediate(guard, request, response, next));"],
  ["that leaves the app", 'on.use(hook, (request, response, next) => next(isEvil(request) ? "router" : undefined));'],
  ["that fails, and a handler that forgives", "on.use(hook, (request, response, next) => next(isEvil(request) ? new Error() : undefined)); on.use(hook, (error, request, response, next) => next());", unguarded],
  ["that refuses to continue", 'server.on("checkContinue", refuse);', [{ accepted: true }, { headers: { Expect: "100-continue" }, accepted: false }]],
  ["that checks what a parser of forms reads", "on.use(hook, express.urlencoded({ extended: true, verify }));", [{ headers: form, body: "a=1", accepted: true }, { headers: { ...form, ...evil }, body: "a=1", accepted: false }]],
  ["that limits the length of JSON", "on.use(hook, express.json({ limit: 2000 }));", [{ body: '{"a":1}', accepted: true }, { body: JSON.stringify(["a".repeat(2000)]), accepted: false }]],
  ["files, with nothing but GET allowed", "on.use(hook, express.static(process.env.STATIC, { fallthrough: false }));", never],
  ["a layer that sends requests away", 'on.use(hook, (request, response, next) => { if (isEvil(request)) request.url = "/elsewhere"; next(); });'],
  ["a parser that gives another value", "on.use(hook, express.json({ reviver: (key, value) => (value === 1 ? 2 : value) }));", [{ accepted: true }, { body: '{"a":{"b":[1]}}', accepted: true }]],
  ["a parser of forms for all types, and a guard that looks into what it leaves", "on.use(hook, express.urlencoded({ extended: true, type: () => true }), guardBody);", [{ body: '{"a":1}', accepted: true }, { body: '{"evil":true}', accepted: true }, { body: "evil=1", accepted: false }, { headers: vendor, body: '{"evil":true}', accepted: true }, { headers: text, body: "evil=a]=1", accepted: true }]],
  ["a parser of JSON for all types, and a guard that looks into what it leaves", 'on.use(hook, express.json({ type: "*/*" }), guardBody);', [{ headers: vendor, body: '{"a":1}', accepted: true }, { headers: vendor, body: '{"evil":true}', accepted: false }, { headers: form, body: '{"a":1}', accepted: true }, { headers: form, body: '{"evil":true}', accepted: false }]],
  ["parsers of all kinds", 'on.use(hook, express.json({ strict: false }), express.urlencoded({ extended: true }), express.text({ type: "text/*" }), express.raw());', [{ body: '"scalar"', accepted: true }, { body: "null", accepted: true }, { headers: form, body: "a[b]=1&a[c][]=2", accepted: true }, { headers: text, body: "text", accepted: true }, { headers: { "Content-Type": "text/html" }, body: "<p>", accepted: true }, { headers: binary, body: "bytes", accepted: true }]],
]; // prettier-ignore

const listeners: Part[] = [
  ["that asks a guard first", "handlers.push(guard);"],
  ["that accepted a parser read first", "handlers.push(express.json({ verify }));"],
  ["that sends requests elsewhere, before Express's", 'server.prependListener("request", (request) => { if (isEvil(request) && request.url.endsWith(hook)) request.url = "/elsewhere"; });'],
  ["added once the flows run", 'onceStarted(() => server.prependListener("request", (request) => { if (isEvil(request) && request.url.endsWith(hook)) request.url = "/elsewhere"; }));'],
]; // prettier-ignore

/** Guards at paths of their own, so that each is the only one in front of its endpoint; and those for everything. */
const guardRows: Row[] = [
  together("guards in the host application", guardsOfHost, (codes) => ({ roots: ["equal", "separate"], host: `const on = app; ${codes.join(" ")} mount();` })),
  together("guards in the admin app", [atPath, ["that is called jsonParser", 'on.use(hook, named("jsonParser"));']], (codes) => ({ plugin: `const on = RED.httpAdmin; ${codes.join(" ")}` })),
  // When an `http in` closes, it takes another route at its path with it, or leaves its own.
  together("guards in the app for HTTP nodes", [atPath, ...guardsAnywhere, ["that is called query", 'on.use(hook, named("query"));']], (codes) => ({ roots: ["separate"], fresh: true, plugin: `const on = RED.httpNode; ${codes.join(" ")}` })),
  together("listeners of the server", listeners, (codes) => ({ roots: ["equal", "separate"], host: `mount(); const handlers = []; listen((request, response) => byPath(handlers)(request, response, (error) => (error ? refuse(request, response) : app(request, response)))); ${codes.join(" ")}` })),
  { name: "a guard in the host application for everything", host: "app.use(guard); mount();", targets: guarded },
  { name: "a guard in the admin app for everything", plugin: "RED.httpAdmin.use(guard);", targets: guarded },
  { name: "a guard in the app for HTTP nodes for everything", roots: ["separate"], plugin: "RED.httpNode.use(guard);", targets: guarded },
  { name: "a guard in the host application as a route for POST", roots: ["separate"], host: 'app.post("*", guard); mount();', targets: spelled },
  { name: "a guard in the app for HTTP nodes as a route for POST", roots: ["separate"], plugin: 'RED.httpNode.post("*", guard);', targets: spelled },
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
/** What `httpNodeMiddleware` may do anywhere, with what the admin app's parsers have read in front of it, and without. */
const middlewareAnywhere: Part[] = [
  ["a function", "guard", [...spelled, ...guardedByMethod]],
  ["a route of a router", "express.Router().post(hook, guard)", spelled],
  ["one that leaves the route", '(request, response, next) => next(isEvil(request) ? "route" : undefined)'],
  ["one that throws", "(request, response, next) => { verify(request); next(); }"],
  ["one that sends requests elsewhere", '(request, response, next) => { if (isEvil(request)) { request.url = "/elsewhere"; next("route"); } else next(); }'],
]; // prettier-ignore
const middlewareBehindParsers: Part[] = [
  ["one that looks into the body", "guardBody", guardedByBody],
  ["one that looks into a body which Node-RED's parsers do not read", "guardBody", [
    { headers: { "Content-Type": "application/json; charset=iso-8859-1" }, body: '{"evil":true}', accepted: false, ours: 403 },
    { headers: { ...form, "Content-Type": `${form["Content-Type"]}; charset=iso-8859-1` }, body: "evil=1", accepted: false, ours: 403 },
  ]],
  ["one that looks into forms which can be read in more ways than one", "guardBody", [
    { headers: form, body: "evil[a]=1", accepted: false },
    { headers: form, body: "evil[]=1", accepted: false },
    { headers: form, body: "[evil]=1", accepted: false },
    { headers: form, body: "a=1&a=2&__proto__=1", accepted: true },
  ]],
  ["one that puts a copy in the place of the body", "(request, response, next) => { request.body = { ...request.body }; next(); }", [{ body: '{"a":1}', accepted: true }, { headers: text, body: "text", accepted: true }]],
  ["one that changes the body", "(request, response, next) => { delete request.body.evil; next(); }", [{ body: '{"a":1,"evil":true}', accepted: true }, { headers: form, body: "a=1&evil=1", accepted: true }]],
  ["one that replaces the body", "(request, response, next) => { request.body = { clean: true }; next(); }", [{ body: '{"a":1}', accepted: true }]],
]; // prettier-ignore
const middlewareAlone: Part[] = [
  ["one that looks for the body where none is read", "guardBody", guardedByBody.map((target) => ({ ...target, accepted: true }))],
  ["one that reads the body and looks into it", "express.Router().use(express.json(), express.urlencoded({ extended: true }), guardBody)", guardedByBody],
  ["one that checks what its parser reads", "express.json({ verify })"],
  ["one whose parser gives another value", "express.json({ reviver: (key, value) => (value === 1 ? 2 : value) })", [{ accepted: true }, { body: '{"a":{"b":[1]}}', accepted: true }]],
]; // prettier-ignore
const adminMiddleware: Part[] = [
  ["a guard", "guard", [...spelled, ...guardedByMethod]],
  ["one that leaves the app", '(request, response, next) => next(isEvil(request) ? "router" : undefined)', unguarded],
  ["one that checks what its parser of JSON reads", "express.json({ verify })"],
  ["one that reads the body and leaves nothing", '(request, response, next) => { request.resume(); request.on("end", next); }', [{ accepted: false, ours: 500 }]],
]; // prettier-ignore

/** What a guard at `/devices/5` lets in. */
function valued(root: string): Target[] {
  return [
    { target: `${root}/devices/5`, accepted: true },
    { target: `${root}/devices/5`, headers: evil, accepted: false },
    { target: `${root}/devices/6`, headers: evil, accepted: true },
    { target: `${root}/Devices/6/`, accepted: true },
    { target: `${root}/devices/%36`, accepted: true },
    { target: `${root}/devices/`, accepted: false },
    { target: `${root}/devices/6/7`, accepted: false },
  ];
}

const settingRows: Row[] = [
  { name: "plain", roots: ["equal", "separate", "nested"], plain: true, methods: allMethods, targets: [...spellings, ...otherMethods.map((method): Target => ({ method, by: method, target: "{root}/hook?a=1&b=2&b=3", accepted: true }))], bystanders: [
    { target: "{root}/elsewhere", status: 404 },
    { target: "{root}/elsewhere", method: "GET", status: 404 },
    { target: "{root}/elsewhere", method: "OPTIONS" },
    { target: "{root}/hook/below", status: 404 },
    { target: "{root}/h%6Fok/elsewhere", status: 404 },
  ] },
  { name: "no editor", settings: "disableEditor: true", plain: true, targets: spellings },
  { name: "no admin app", settings: "httpAdminRoot: false", fresh: true, plain: true, targets: spellings },
  { name: "accounts for the editor", settings: 'adminAuth: { type: "credentials", users: [], default: { permissions: "*" } }', plain: true, targets: spellings },

  { name: "httpNodeAuth as an account", roots: ["equal", "nested"], settings: `httpNodeAuth: ${account}`, targets: withAccount },
  { name: "httpNodeAuth as a function", roots: ["separate"], settings: "httpNodeAuth: guard", targets: spelled },
  { name: "httpNodeAuth as functions, of which one looks into the body", settings: "httpNodeAuth: [pass, [pass, [guard, guardBody]]]", targets: [...spelled, ...guardedByBody] },
  { name: "httpAdminAuth in front of all", roots: ["nested"], settings: `httpAdminAuth: ${account}`, fresh: true, targets: withAccount },

  byPath("httpNodeMiddleware", [...middlewareAnywhere, ...middlewareBehindParsers], (handler) => ({ roots: ["equal", "nested"], methods: allMethods, settings: `httpNodeMiddleware: ${handler}` })),
  byPath("httpNodeMiddleware as functions within functions", [...middlewareAnywhere, ...middlewareAlone], (handler) => ({ roots: ["separate"], methods: allMethods, settings: `httpNodeMiddleware: [pass, [pass, [${handler}]]]` })),
  { name: "httpNodeMiddleware as something else", settings: 'httpNodeMiddleware: "guard"', targets: unguarded },
  { name: "httpNodeMiddleware with something that is no function", settings: 'httpNodeMiddleware: [pass, "guard"]', targets: never },

  byPath("httpAdminMiddleware in front of all", adminMiddleware, (handler) => ({ methods: allMethods, settings: `httpAdminMiddleware: [pass, [${handler}]]` })),
  { name: "requireHttps in front of all", settings: "requireHttps: true", fresh: true, targets: [{ accepted: false }, { headers: { "X-Forwarded-Proto": "https" }, accepted: true }] },
  { name: "httpAdminCors that fails", settings: 'httpAdminCors: { origin: (origin, done) => done(origin ? new Error("from there") : null, true) }', targets: [{ accepted: true }, { headers: { Origin: "http://x" }, accepted: false }] },
  { name: "httpNodeCors", roots: ["separate"], settings: "httpNodeCors: {}", plain: true, methods: allMethods, targets: [...spellings, ...otherMethods.map((method): Target => ({ method, by: method, headers: { Origin: "http://x" }, accepted: true }))], bystanders: [{ method: "OPTIONS", headers: { Origin: "http://x", "Access-Control-Request-Method": "POST" } }] },
  { name: "httpNodeCors that fails", settings: 'httpNodeCors: { origin: (origin, done) => done(origin ? new Error("from there") : null, true) }', targets: [{ accepted: true }, { headers: { Origin: "http://x" }, accepted: false }] },
  { name: "httpNodeCors that decides by the path", roots: ["separate"], settings: 'httpNodeCors: (request, done) => done(request.path === "/hook" && isEvil(request) ? new Error("no") : null, {})', targets: guarded },


  { name: "httpStatic at the root", settings: "httpStatic: process.env.STATIC", plain: true, targets: spellings, bystanders: [
    { target: "/hook", method: "GET", status: 200, says: "a file" },
    { target: "/HEAD", method: "HEAD", status: 404 },
    { target: "/page.txt", method: "GET", status: 200, says: "another file" },
  ] },
  { name: "httpStatic below the nodes' root, and httpAdminMiddleware elsewhere", settings: 'httpAdminMiddleware: guard, httpStatic: [{ path: process.env.STATIC, root: "/api/" }]', roots: ["separate"], plain: true, targets: [...spellings, ...unguarded], bystanders: [
    { method: "GET", status: 200, says: "a file" },
    { target: "/api/page.txt", method: "GET", status: 200, says: "another file" },
  ] },
  { name: "httpStatic behind a path with parameters", settings: "httpStatic: process.env.STATIC", roots: ["equal"], paths: ["/:any"], targets: [{ target: "/any", accepted: true }], bystanders: [
    { target: "/hook", method: "GET", status: 200, says: "a file" },
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
  { name: "a host that minds the letter case and the slash at the end", roots: ["separate"], host: 'app.enable("case sensitive routing"); app.enable("strict routing"); mount();', targets: withoutCases(withoutSlashes(spellings)) },
  { name: "a guard between the admin app and the nodes", host: "mountAdmin(); app.use(settings.httpNodeRoot, guard); mountNodes();", targets: spelled },
  { name: "a guard between the admin app and the nodes that looks into the body", roots: ["nested"], host: "mountAdmin(); app.use(guardBody); mountNodes();", targets: guardedByBody },
  { name: "a guard between the admin app and the nodes, in front of other methods", roots: ["nested"], methods: otherMethods, host: "mountAdmin(); app.use(settings.httpNodeRoot, guard); mountNodes();", targets: guardedByMethod },
  { name: "a guard at the mount of the nodes", roots: ["separate"], host: "mountAdmin(); app.use(settings.httpNodeRoot, guard, RED.httpNode);", targets: spelled },
  { name: "a guard behind something that decodes paths", roots: ["separate"], host: "app.use((request, response, next) => { try { request.url = decodeURI(request.url); } catch {} next(); }); app.use(hook, guard); mount();", targets: [...guarded, { target: "{root}/hoo%E2%84%AA", accepted: false }] },
  { name: "layers that send requests to the endpoint, and change methods", host: 'app.use("/friendly", (request, response, next) => { request.baseUrl = ""; request.url = hook; next(); }); app.use((request, response, next) => { if (request.url === "/friend") request.url = hook; request.method = request.get("X-Method") ?? request.method; next(); }); mount();', targets: [{ accepted: true }, { target: "/friend", accepted: true }, { headers: { "X-Method": "PUT" }, accepted: false, ours: 405 }, { method: "PUT", headers: { "X-Method": "POST" }, accepted: true }] },
  { name: "a guard at one value of a parameter in the path", paths: ["/devices/:id"], host: 'app.use("/devices/5", guard); mount();', targets: valued("") },
  { name: "a guard at one value of a parameter in the path, in the app for HTTP nodes", roots: ["separate"], paths: ["/devices/:id"], plugin: 'RED.httpNode.use("/devices/5", guard);', targets: valued("/api") },
  { name: "a guard of a parameter", paths: ["/devices/:id"], plugin: 'RED.httpNode.param("id", (request, response, next, value) => (value === "5" ? guard(request, response, next) : next()));', targets: valued("") },
  { name: "another server than the one that Node-RED knows", host: 'mount(); const outer = require("node:http").createServer((request, response) => guard(request, response, () => app(request, response))); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ address: outer.address() }));', targets: guarded },

  { name: "Node-RED in an app of its own", host: "const inner = express(); inner.use(guard); mount(inner); app.use(inner);", targets: guarded },
  { name: "Node-RED in an app of its own, elsewhere", host: 'const inner = express(); mount(inner); app.use("/hub", guard, inner); mountAdmin();', roots: ["separate"], targets: [{ target: "/hub/api/hook", accepted: true }, { target: "/hub/api/hook", headers: evil, accepted: false }, { accepted: false }] },
  { name: "Node-RED behind a router", roots: ["separate"], host: "const router = express.Router(); router.use(guard); mount(router); app.use(router);", targets: guarded },
  { name: "Node-RED called by a layer", host: "app.use((request, response, next) => guard(request, response, () => RED.httpAdmin(request, response, () => RED.httpNode(request, response, next))));", targets: guarded },
  { name: "the nodes at several mounts, of which some are guarded", host: 'mountAdmin(); app.use("/other", guard); app.use(["/api", "/other"], RED.httpNode); app.use("/guarded", guard, RED.httpNode);', roots: ["separate"], targets: [...unguarded, { target: "/other/hook", accepted: true }, { target: "/other/hook", headers: evil, accepted: false }, { target: "/guarded/hook", accepted: true }, { target: "/guarded/hook", headers: evil, accepted: false }] },
  { name: "the nodes mounted on another app before, the guarded one of which is served", host: "const real = express(); real.use(guard); mount(real); mount(); listen(real);", targets: guarded },
  { name: "the nodes mounted on a guarded app as well, which another server serves", roots: ["separate"], host: 'const other = express(); other.use(hook, guard); mount(other); mount(); const outer = require("node:http").createServer(other); server.listen = () => outer.listen(0, "127.0.0.1", () => process.send({ address: outer.address() }));', targets: spelled },
  { name: "the nodes at a regular expression", host: "mountAdmin(); app.use(guard); app.use(/^\\/api/, RED.httpNode);", roots: ["separate"], targets: guarded },
  { name: "the nodes at a pattern with a parameter", host: 'mountAdmin(); app.param("any", named("byName")); app.use("/:any", RED.httpNode);', roots: ["separate"], targets: guarded },
  { name: "the nodes elsewhere than the settings say", host: 'mountAdmin(); app.use("/elsewhere", guard); app.use("/elsewhere", RED.httpNode);', roots: ["separate"], targets: [{ accepted: false }, { target: "/elsewhere/hook", accepted: true }, { target: "/elsewhere/hook", headers: evil, accepted: false }] },
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
  { name: "virtual hosts, told apart by a layer in front", host: `${other} app.use((request, response, next) => { const at = { "other.example": other, "raw.example": raw }[request.headers.host]; if (at) at(request, response, next); else next(); }); mount();`, targets: [{ accepted: true }], bystanders: otherHosts },
  { name: "virtual hosts, told apart by the server's listener", roots: ["separate"], host: `${other} mount(); listen((request, response) => ({ "other.example": other, "raw.example": raw }[request.headers.host] ?? app)(request, response));`, targets: [{ accepted: true }], bystanders: otherHosts },
  { name: "virtual hosts, Node-RED one of them", roots: ["separate"], host: `${other} const hub = express(); mount(hub); app.use((request, response, next) => ({ "other.example": other, "raw.example": raw }[request.headers.host] ?? hub)(request, response, next));`, targets: [{ accepted: true }], bystanders: otherHosts },
  { name: "a router that hides where Node-RED is, and another route at the nodes' own root", host: `${other} const router = express.Router(); mount(router); app.use("/hub", router); mountAdmin(); app.use(settings.httpNodeRoot, other);`, roots: ["separate"], targets: [{ target: "/hub/api/hook", accepted: true }], bystanders: [{ status: 200, says: '/api/hook {"a":1}' }, { target: "/api/h%6Fok", status: 200, says: '/api/h%6Fok {"a":1}' }, { method: "GET", status: 200, says: "/api/hook {}" }] },
  { name: "another app behind Node-RED at the same path", host: `${other} mount(); app.use(settings.httpNodeRoot, other);`, targets: [{ accepted: true }], bystanders: [
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
  { name: "a page behind Node-RED at the same path, and one in front", paths: ["/hook", "/hook1"], host: 'const page = (request, response) => response.send("a page"); app.get(hook + 1, page); mount(); app.get(hook, page);', plain: true, targets: [...spellings, { target: "/hook1", accepted: true }], bystanders: [
    { method: "GET", status: 200, says: "a page" },
    { method: "HEAD", status: 200, says: "" },
    { target: "{root}/HOOK/?x", method: "GET", status: 200, says: "a page" },
    { target: "/hook1", method: "GET", status: 200, says: "a page" },
  ] },
  { name: "files behind Node-RED", host: "mount(); app.use(settings.httpNodeRoot, express.static(process.env.STATIC));", targets: [{ accepted: true }], bystanders: [{ method: "GET", status: 200, says: "a file" }, { target: "{root}/page.txt", method: "GET", status: 200, says: "another file" }] },
  { name: "a page for all that is not found", host: 'mount(); app.get("*", (request, response) => response.send("the one page"));', targets: [{ accepted: true }], bystanders: [{ method: "GET", status: 200, says: "the one page" }, { target: "{root}/elsewhere", method: "GET", status: 200, says: "the one page" }] },
  { name: "a route of another node at the same path for another method, and a router below", plugin: 'const echo = [express.json(), (request, response) => response.send(request.body)]; RED.httpNode.put("/hook", ...echo); RED.httpNode.use("/hook/below", ...echo);', targets: [{ accepted: true }], bystanders: [{ method: "PUT", status: 200, says: '{"a":1}' }, { target: "{root}/hook/below", status: 200, says: '{"a":1}' }] },
]; // prettier-ignore

/** What guards see of a request, in front of Node-RED, in its admin app, among its nodes and in the route itself. */
const seenRows: Row[] = [
  { name: "guards that look at requests in each place", everyVersion: true, roots: ["equal", "separate", "nested"], settings: 'httpAdminMiddleware: see("admin"), httpNodeMiddleware: see("middleware")', plugin: 'RED.httpNode.use(see("nodes"));', host: 'app.use(see("front")); mountAdmin(); app.use(see("between")); mountNodes();', targets: [
    { accepted: true },
    { target: "{root}/hook?a=1&b[c]=2", accepted: true },
    { headers: form, body: "a=1&b=2", accepted: true },
    { headers: text, body: "hello", accepted: true },
    { headers: binary, body: "hello", accepted: true },
    { headers: text, body: "", accepted: true },
  ] },
]; // prettier-ignore

/** Guards of nodes, each at the path of an endpoint: when the first node is made, as the flows start, and at a command. */
const guardNode = `
  const at = new Set();
  RED.nodes.registerType("guard", function (config) {
    RED.nodes.createNode(this, config);
    if (!at.has(config.path)) RED.httpNode.use(config.path, guard);
    at.add(config.path);
  });
  RED.events.once("flows:starting", () => RED.httpNode.use("/hook2", guard));
  onChange(() => RED.httpNode.use("/hook3", guard));
`;
const ofNodes: Omit<Row, "name" | "targets"> = {
  paths: ["/hook0", "/hook1", "/hook2", "/hook3"],
  plugin: guardNode,
  earlier: [{ id: "earlier", type: "guard", path: "/hook0", wires: [] }],
  later: [{ id: "later", type: "guard", path: "/hook1", wires: [] }],
  fresh: true,
};
const evilAt = (index: number, by: string, accepted: boolean): Target[] => [
  { by, target: `{root}/hook${index}`, accepted: true },
  { by, target: `{root}/hook${index}`, headers: evil, accepted },
];

/** What is added to Node-RED once it runs; nodes are made with the middleware that is set then. */
const lateRows: Row[] = [
  { name: "httpNodeMiddleware that is replaced once the flows run, and a deploy", roots: ["separate"], settings: "httpNodeMiddleware: pass", host: "mount(); onceStarted(() => { settings.httpNodeMiddleware = guard; });", fresh: true, then: ["redeploy"], targets: guarded },
  { name: "guards of nodes", ...ofNodes, then: ["change"], targets: [
    ...evilAt(0, "a node before the endpoint's", false),
    ...evilAt(1, "a node behind it", true),
    ...evilAt(2, "the start of the flows", false),
    ...evilAt(3, "a node, once the flows run", true),
  ] },
  { name: "guards of nodes, and a deploy", ...ofNodes, then: ["change", "redeploy"], targets: [0, 1, 2, 3].flatMap((index) => evilAt(index, `guard ${index}`, false)) },
]; // prettier-ignore

export const rows: Row[] = [...settingRows, ...guardRows, ...hostRows, ...bystanderRows, ...seenRows, ...lateRows];
