// What the server does with deliveries.

import { deliveries, noRoom } from "./layout";
import { Script } from "./script";

/**
 * Arguments: the token of this attempt, the id, the node, the state, when it came, its bytes, how many there may be, and
 * the fields of its hash with their values.
 */
export const add = new Script<unknown>(`${deliveries}
local token, id, node, state, at, bytes, most = unpack(ARGV, 3, 9)
if redis.call('EXISTS', key('d', id)) == 1 then return end
local seq = redis.pcall('INCR', key('seq'))
if type(seq) == 'table' then
  if not string.find(seq.err, 'OOM') or giveWay(tonumber(bytes)) < tonumber(bytes) then return seq end
  seq = redis.call('INCR', key('seq'))
end
if not makeRoom(tonumber(bytes), tonumber(most)) then ${noRoom} end
if redis.call('EXISTS', log(node)) == 0 then redis.call('XGROUP', 'CREATE', log(node), group, 0, 'MKSTREAM') end
redis.call('XADD', log(node), seq, 'id', id)
redis.call('HSET', key('d', id), 'seq', seq, 'by', token, 'bytes', bytes, 'node', node, 'state', state, 'at', at, unpack(ARGV, 10))
redis.call('ZADD', key('all'), seq, id)
redis.call('INCRBY', key('bytes'), bytes)
place(id, seq, node, state, at)
`); // prettier-ignore

/** Drops a delivery, if it was added with this token. Arguments: the id and the token. */
export const forget = new Script<unknown>(`${deliveries}
forced()
if redis.call('HGET', key('d', ARGV[3]), 'by') == ARGV[4] then drop(ARGV[3]) end
`);

/** Arguments: the id, a run in JSON or nothing, and the fields that change, with their values. */
export const change = new Script<unknown>(`${deliveries}
local id, run = ARGV[3], ARGV[4]
local seq, node, state, at = unpack(redis.call('HMGET', key('d', id), 'seq', 'node', 'state', 'at'))
if not seq then return end
if isOpen(state) then
  local pending = redis.call('XPENDING', log(node), group, seq, seq, 1)[1]
  if pending and pending[2] ~= me then return end
end
forced()
for index = 5, #ARGV, 2 do redis.call('HSET', key('d', id), ARGV[index], ARGV[index + 1]) end
if run ~= '' then
  redis.call('HSET', key('d', id), 'run:' .. redis.call('HGET', key('d', id), 'attempt'), run)
  redis.call('HINCRBY', key('d', id), 'bytes', #run)
  redis.call('INCRBY', key('bytes'), #run)
end
local now = redis.call('HGET', key('d', id), 'state')
if now ~= state then
  displace(id, seq, node, state)
  place(id, seq, node, now, at)
end
`);

/**
 * Takes over what no living instance works on. Arguments: the node, where to go on, how many are looked at.
 *
 * It answers with the numbers and the ids of what this instance works on, new or not, and where to go on: nothing where
 * all is done. An instance that is gone and has nothing any more is forgotten.
 */
export const claim = new Script<[numbers: string[], ids: string[], next: string | null]>(`${deliveries}
local node, after, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
if redis.call('EXISTS', log(node)) == 0 then return {{}, {}, false} end
forced()
local living, mine, taken, ids = {}, {}, {}, {}
local pending = redis.call('XPENDING', log(node), group, '(' .. after, '+', most)
for _, each in ipairs(pending) do
  local seq, owner = each[1], each[2]
  if living[owner] == nil then living[owner] = lives(owner) end
  if owner == me or not living[owner] then mine[#mine + 1] = seq end
  if owner ~= me and not living[owner] then taken[#taken + 1] = seq end
end
if #taken > 0 then redis.call('XCLAIM', log(node), group, me, 0, unpack(taken)) end
for index, seq in ipairs(mine) do ids[index] = redis.call('XRANGE', log(node), seq, seq)[1][2][2] end
if #pending == most then return {mine, ids, pending[most][1]} end
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', log(node), group)) do
  if consumer[4] == 0 and not lives(consumer[2]) then redis.call('XGROUP', 'DELCONSUMER', log(node), group, consumer[2]) end
end
return {mine, ids, false}
`); // prettier-ignore

/** All of each delivery that is still here, as fields and values, until so many bytes. Arguments: these, and ids. */
export const find = new Script<Buffer[][]>(
  `
local most, bytes, found = tonumber(ARGV[3]), 0, {}
for index = 4, #ARGV do
  if bytes >= most then return found end
  found[index - 3] = redis.call('HGETALL', key('d', ARGV[index]))
  bytes = bytes + tonumber(redis.call('HGET', key('d', ARGV[index]), 'bytes') or 0)
end
return found
`,
  true,
);

/** The fields of a page's rows, the first of which is the number. */
export const columns = ["seq", "id", "node", "at", "state", "attempt", "status", "milliseconds", "rest"] as const;

/**
 * A step of a page, the newest first. Arguments: the node, the state and a text in lower case, or nothing, the number
 * before which it begins, or nothing, how many at most, and how many are looked through.
 */
export const page = new Script<[found: (string | null)[][], next: string | null]>(`
local node, state, text, before, limit, scanned = ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local ids = {}
if node ~= '' and state == '' then
  local entries = redis.call('XREVRANGE', key('log', node), before == '' and '+' or '(' .. before .. '-0', '-', 'COUNT', scanned)
  for index, entry in ipairs(entries) do ids[index] = entry[2][2] end
else
  local index = state == '' and key('all') or node == '' and key('in', state) or key('in', state, node)
  ids = redis.call('ZREVRANGEBYSCORE', index, before == '' and '+inf' or '(' .. before, '-inf', 'LIMIT', 0, scanned)
end
local found, last = {}, false
for _, id in ipairs(ids) do
  local row = redis.call('HMGET', key('d', id), ${columns.map((column) => `'${column}'`).join(", ")})
  last = row[1] or last
  local matches = text == '' or string.find(redis.call('HGET', key('d', id), 'searched') or '', text, 1, true)
  if row[1] and matches then
    if #found == limit then return {found, found[limit][1]} end
    found[#found + 1] = row
  end
end
return {found, #ids == scanned and last}
`); // prettier-ignore

/** How many deliveries a node has of each of these states. Arguments: the node, and the states. */
export const count = new Script<number[]>(`
local counts = {}
for index = 4, #ARGV do counts[index - 3] = redis.call('ZCARD', key('in', ARGV[index], ARGV[3])) end
return counts
`);
