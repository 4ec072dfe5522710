// A script that the server runs as a whole: between its first and its last step nothing else happens there.

import { createHash } from "node:crypto";

/**
 * What all scripts know. `KEYS[1]` begins all keys; `me` is this instance, `epoch` the number of its connection. A
 * script that was sent over an earlier connection, and comes to the server after a later one has begun, does nothing:
 * what was refused when that connection had ended cannot happen afterwards.
 *
 * `forced`: where a server has no memory left, it takes no write that needs some, but from a script that has written
 * before. To delete what is not there is such a write.
 */
const prelude = `
local root, me, epoch = KEYS[1], ARGV[1], ARGV[2]
local function key(kind, one, other)
  if other then return root .. ':' .. kind .. ':' .. one .. ':' .. other end
  return one and root .. ':' .. kind .. ':' .. one or root .. ':' .. kind
end
local function isOpen(state) return state == 'queued' or state == 'running' end
local function lives(instance) return instance == me or redis.call('EXISTS', key('alive', instance)) == 1 end
local function forced() redis.call('DEL', key('nothing')) end
local fence = redis.call('GET', key('fence', me))
if fence and tonumber(fence) > tonumber(epoch) then
  return redis.error_reply('STALE a later connection has begun')
end
`;

/** Its first two arguments are the instance and the number of its connection; those of each begin with the third. */
export class Script<Reply> {
  readonly text: string;
  readonly sha: string;
  /** What it answers, where texts are given as `bytes` says. */
  declare readonly gives: Reply;

  /** @param bytes whether texts are given as a `Buffer` each */
  constructor(
    text: string,
    readonly bytes = false,
  ) {
    this.text = prelude + text;
    this.sha = createHash("sha1").update(this.text).digest("hex");
  }
}
