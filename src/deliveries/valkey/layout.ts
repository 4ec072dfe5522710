// Where the server has deliveries, and how these come to their places and go.

import { droppable, finished, lastToGo, type State } from "../delivery";

/*
 * Below the root, by their last parts:
 *
 *   d:<id>              a hash: all of a delivery
 *   log:<node>          a stream: an entry for each delivery of a node, in the order in which they came. In its consumer
 *                       group, the pending list of an instance is what the instance works on
 *   all, in:<state>, in:<state>:<node>   sorted sets of ids, in the order in which they came
 *   aged                a sorted set of the ids of what may be dropped for its age, by the time it came
 *   seq, bytes          the number of the last delivery, and how much all of them take
 *   alive:<instance>    there while an instance lives
 *   fence:<instance>    the number of its connection
 */
/** What scripts know that change deliveries. */
export const deliveries = `
local group = 'instances'
local function log(node) return key('log', node) end

-- What goes to the same place costs little more together than one of it alone: a command is begun once, and gathers.
local commands, order = {}, {}
local begins = {XCLAIM = {group, me, 0}, XACK = {group}}
local ends = {XCLAIM = {'FORCE', 'JUSTID'}}
local function extend(command, more)
  for _, each in ipairs(more or {}) do command[#command + 1] = each end
  return command
end
local function gather(verb, where, one, other)
  local command = commands[verb .. where]
  if not command then
    command = extend({verb, where}, begins[verb])
    commands[verb .. where] = command
    -- What is claimed anew is let go of before, whoever comes first.
    table.insert(order, verb == 'XACK' and 1 or #order + 1, command)
  end
  command[#command + 1] = one
  command[#command + 1] = other
end
local function carryOut()
  for _, command in ipairs(order) do redis.call(unpack(extend(command, ends[command[1]]))) end
  commands, order = {}, {}
end

local function place(id, seq, node, state, at)
  gather('ZADD', key('in', state), seq, id)
  gather('ZADD', key('in', state, node), seq, id)
  if isOpen(state) then gather('XCLAIM', log(node), seq)
  elseif state ~= '${lastToGo}' then gather('ZADD', key('aged'), at, id) end
end

local function displace(id, seq, node, state)
  gather('ZREM', key('in', state), id)
  gather('ZREM', key('in', state, node), id)
  if isOpen(state) then gather('XACK', log(node), seq)
  else gather('ZREM', key('aged'), id) end
end

local function drop(id)
  local seq, node, state, bytes = unpack(redis.call('HMGET', key('d', id), 'seq', 'node', 'state', 'bytes'))
  redis.call('ZREM', key('all'), id)
  if not seq then
    for _, each in ipairs(finished) do redis.call('ZREM', key('in', each), id) end
    redis.call('ZREM', key('aged'), id)
    return
  end
  displace(id, seq, node, state)
  carryOut()
  redis.call('XDEL', log(node), seq)
  if redis.call('XLEN', log(node)) == 0 then redis.call('DEL', log(node)) end
  redis.call('DECRBY', key('bytes'), bytes)
  redis.call('UNLINK', key('d', id))
end

local function oldest()
  local first, least
  for _, state in ipairs(droppable) do
    local found = redis.call('ZRANGE', key('in', state), 0, 0, 'WITHSCORES')
    if found[1] and (not least or tonumber(found[2]) < least) then first, least = found[1], tonumber(found[2]) end
  end
  return first or redis.call('ZRANGE', key('in', '${lastToGo}'), 0, 0)[1]
end

-- Whether there is room, or will be: no script drops so many that others wait for it.
local function makeRoom(wanted, most)
  if wanted > most then return false end
  for _ = 1, 100 do
    if tonumber(redis.call('GET', key('bytes')) or 0) + wanted <= most then return true end
    local id = oldest()
    if not id then return false end
    drop(id)
  end
  return true
end

-- Where the server has no memory left, the oldest of what is finished goes. How much that was.
local function giveWay(wanted)
  local freed = 0
  for _ = 1, 1000 do
    local id = freed < wanted and oldest()
    if not id then return freed end
    freed = freed + tonumber(redis.call('HGET', key('d', id), 'bytes') or 0)
    drop(id)
  end
  return freed
end
`
  .replaceAll("ipairs(finished)", `ipairs({${listOf(finished)}})`)
  .replaceAll("ipairs(droppable)", `ipairs({${listOf(droppable)}})`);

function listOf(states: readonly State[]): string {
  return states.map((state) => `'${state}'`).join(", ");
}

/** Answers that there is no room. */
export const noRoom = "return redis.error_reply('NOROOM deliveries that are not done fill the room')";
