// What the server does with deliveries.

import { deliveries, noRoom } from "./layout";
import { Script } from "./script";

/**
 * Adds deliveries: none where there is no room for all; after another error, each is to be added once more, alone.
 * Arguments: how many bytes there may be, how many these have, how many deliveries there are; and of each the token of
 * this attempt, the id, the node, the state, when it came, its bytes, how many arguments follow, and these: the fields of
 * its hash with their values.
 */
export const add = new Script<unknown>(`${deliveries}
local most, wanted, number = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local last = redis.pcall('INCRBY', key('seq'), number)
if type(last) == 'table' then
  -- Each alone may find the room that all together do not.
  if number > 1 or not string.find(last.err, 'OOM') or giveWay(wanted) < wanted then return last end
  last = redis.call('INCRBY', key('seq'), number)
end
if not makeRoom(wanted, most) then ${noRoom} end
-- So much is dropped for each alone.
if number > 1 and tonumber(redis.call('GET', key('bytes')) or 0) + wanted > most then ${noRoom} end
local seq, index = last - number, 6
while ARGV[index] do
  local token, id, node, state, at, bytes, fields = unpack(ARGV, index, index + 6)
  seq = seq + 1
  local by = redis.call('HGET', key('d', id), 'by')
  -- An error has left half of it, when it was added together with others.
  if by == token then drop(id) end
  if not by or by == token then
    if not redis.call('XADD', log(node), 'NOMKSTREAM', seq, 'id', id) then
      redis.call('XGROUP', 'CREATE', log(node), group, 0, 'MKSTREAM')
      redis.call('XADD', log(node), seq, 'id', id)
    end
    redis.call('HSET', key('d', id), 'seq', seq, 'by', token, 'bytes', bytes, 'node', node, 'state', state, 'at', at,
      unpack(ARGV, index + 7, index + 6 + fields))
    redis.call('INCRBY', key('bytes'), bytes)
    gather('ZADD', key('all'), seq, id)
    place(id, seq, node, state, at)
  end
  index = index + 7 + fields
end
carryOut()
`);

/** Drops a delivery, if it was added with this token. Arguments: the id and the token. */
export const forget = new Script<unknown>(`${deliveries}
forced()
if redis.call('HGET', key('d', ARGV[3]), 'by') == ARGV[4] then drop(ARGV[3]) end
`);

/**
 * Changes deliveries, but for those that another instance works on. Arguments: of each the id, a run in JSON or nothing,
 * how many bytes more it takes, how many arguments follow, and these: the fields that change, with their values.
 */
export const change = new Script<unknown>(`${deliveries}
forced()
local seen, last = {}, {}
-- What the hashes say comes last: after an error, each can be changed alone as if nothing had happened.
local function conclude()
  carryOut()
  for _, command in ipairs(last) do redis.call(unpack(command)) end
  last = {}
end
local function isMine(node, seq)
  local pending = redis.call('XPENDING', log(node), group, seq, seq, 1)[1]
  return not pending or pending[2] == me
end
local function change(id, run, bytes, fields)
  local seq, node, state, at, attempt = unpack(redis.call('HMGET', key('d', id), 'seq', 'node', 'state', 'at', 'attempt'))
  if not seq or (isOpen(state) and not isMine(node, seq)) then return end
  local changed = {state = state, attempt = attempt}
  for index = 1, #fields, 2 do changed[fields[index]] = fields[index + 1] end
  if run ~= '' then
    table.insert(fields, 'run:' .. changed.attempt)
    table.insert(fields, run)
  end
  if bytes > 0 then
    last[#last + 1] = {'HINCRBY', key('d', id), 'bytes', bytes}
    last[#last + 1] = {'INCRBY', key('bytes'), bytes}
  end
  if #fields > 0 then last[#last + 1] = {'HSET', key('d', id), unpack(fields)} end
  if changed.state == state then return end
  displace(id, seq, node, state)
  place(id, seq, node, changed.state, at)
end
local index = 3
while ARGV[index] do
  local id, run, bytes, count = unpack(ARGV, index, index + 3)
  if seen[id] then conclude() end
  seen[id] = true
  change(id, run, tonumber(bytes), {unpack(ARGV, index + 4, index + 3 + count)})
  index = index + 4 + count
end
conclude()
`); // prettier-ignore

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

/** The fields of a page's rows, the first of which is the number; the last run follows in JSON. */
export const columns = [
  "seq",
  "id",
  "node",
  "at",
  "state",
  "attempt",
  "status",
  "milliseconds",
  "rest",
  "answer",
] as const;

/** The row of a delivery, and its last run; nothing where it is gone. */
const rowOf = `
local function rowOf(id)
  local row = redis.call('HMGET', key('d', id), ${columns.map((column) => `'${column}'`).join(", ")})
  row[#row + 1] = redis.call('HGET', key('d', id), 'run:' .. (row[${columns.indexOf("attempt") + 1}] or ''))
  return row[1] and row
end
`;

/** One delivery, as a page has it: its row, or none where it is gone. Argument: the id. */
export const look = new Script<(string | null)[][]>(`${rowOf} return {rowOf(ARGV[3]) or nil}`);

/**
 * A step of a page, the newest first. Arguments: the node, the state and a text in lower case, or nothing, the number
 * before which it begins, or nothing, how many at most, how many are looked through, and when the oldest came that is
 * wanted.
 */
export const page = new Script<[found: (string | null)[][], next: string | null]>(`${rowOf}
local node, state, text, before = unpack(ARGV, 3, 6)
local limit, scanned, since = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local ids = {}
if node ~= '' and state == '' then
  local entries = redis.call('XREVRANGE', key('log', node), before == '' and '+' or '(' .. before .. '-0', '-', 'COUNT', scanned)
  for index, entry in ipairs(entries) do ids[index] = entry[2][2] end
else
  local index = state == '' and key('all') or node == '' and key('in', state) or key('in', state, node)
  ids = redis.call('ZREVRANGEBYSCORE', index, before == '' and '+inf' or '(' .. before, '-inf', 'LIMIT', 0, scanned)
end
local function has(written, what) return written and string.find(written, what, 1, true) end
local function matches(id, run)
  local searched, failed = unpack(redis.call('HMGET', key('d', id), 'searched', 'failed'))
  -- What a run has failed with before counts no more when the last one has not.
  return has(searched, text) or (has(run, '"error":') and has(failed, text))
end
local found, last, at = {}, false, false
for _, id in ipairs(ids) do
  local row = rowOf(id)
  if row then last, at = row[1], row[${columns.indexOf("at") + 1}] end
  if row and (text == '' or matches(id, row[#row])) then
    if #found == limit then return {found, found[limit][1]} end
    found[#found + 1] = row
  end
end
return {found, #ids == scanned and at and tonumber(at) >= since and last}
`); // prettier-ignore

/** How many deliveries a node has of each of these states. Arguments: the node, and the states. */
export const count = new Script<number[]>(`
local counts = {}
for index = 4, #ARGV do counts[index - 3] = redis.call('ZCARD', key('in', ARGV[index], ARGV[3])) end
return counts
`);
