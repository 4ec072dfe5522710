// What the server does with the keys of deliveries.

import { mostBytesOfAnswers, mostKeys } from "../memory-duplicates";
import { Script } from "./script";

/** How long a key is reserved at most, in ms: much longer than any flow may take to answer. */
const longestReservation = 3_600_000;
/** How long those who wait may take to learn what is not kept, in ms. */
const toldFor = 30_000;

/*
 * Below the root:
 *
 *   key:<place>        a hash: who has the key or, once it is settled, the answer
 *   told:<token>       a hash: an answer that is not kept, for those who wait for it
 *   keys, answers      sorted sets, in the order in which they came: places of what is settled, and of its bodies with
 *                      their lengths before them
 *   answered           how many bytes these have
 */
const keys = `
local function keepBody(place, seq, length)
  redis.call('ZADD', key('answers'), seq, length .. ' ' .. place)
  redis.call('INCRBY', key('answered'), length)
end

local function forgetBody(entry)
  local length, place = string.match(entry, '^(%d+) (.*)$')
  redis.call('ZREM', key('answers'), entry)
  redis.call('DECRBY', key('answered'), length)
  redis.call('HDEL', key('key', place), 'body')
end

-- The oldest go; each that comes takes two along that are over, so that there are never more of these than were kept.
local function trim()
  for _ = 1, 2 do
    local place = redis.call('ZRANGE', key('keys'), 0, 0)[1]
    if not place then break end
    local isOver = redis.call('EXISTS', key('key', place)) == 0
    if not isOver and redis.call('ZCARD', key('keys')) <= ${mostKeys} then break end
    redis.call('ZREM', key('keys'), place)
    if not isOver then redis.call('DEL', key('key', place)) end
  end
  for _ = 1, 2 do
    local entry = redis.call('ZRANGE', key('answers'), 0, 0)[1]
    if not entry or redis.call('HEXISTS', key('key', string.match(entry, '^%d+ (.*)$')), 'body') == 1 then break end
    forgetBody(entry)
  end
  while tonumber(redis.call('GET', key('answered')) or 0) > ${mostBytesOfAnswers} do
    local entry = redis.call('ZRANGE', key('answers'), 0, 0)[1]
    if not entry then return redis.call('DEL', key('answered')) end
    forgetBody(entry)
  end
end
`;

/** What came of a delivery: its status, its fields in JSON, and its body, as far as there are any. */
export type Told = [status: Buffer | null, fields: Buffer | null, body: Buffer | null];

/**
 * Arguments: the place, the id of the delivery, and a token of this reservation.
 *
 * It answers with nothing where the place was free; else with the id and the token of who has it and, once it is settled,
 * with what came of that.
 */
export const reserve = new Script<[id: Buffer, token: Buffer, told: Told | null] | null>(
  `
local place, id, token = ARGV[3], ARGV[4], ARGV[5]
local known = redis.call('HMGET', key('key', place), 'id', 'token', 'owner', 'status', 'fields', 'body')
if known[1] and not known[3] then return {known[1], known[2], {known[4], known[5], known[6]}} end
if known[1] and lives(known[3]) then
  redis.call('HSET', key('key', place), 'awaited', 1)
  return {known[1], known[2], false}
end
redis.call('ZREM', key('keys'), place)
redis.call('DEL', key('key', place))
redis.call('HSET', key('key', place), 'id', id, 'token', token, 'owner', me)
redis.call('PEXPIRE', key('key', place), ${longestReservation})
return false
`,
  true,
);

/**
 * Arguments: the place, the token, how long the key is kept in ms, or 0, and of the answer the status, the fields in JSON
 * and the body, as far as there are any.
 */
export const settle = new Script<unknown>(`${keys}
local place, token, keptFor, answer = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}
for index, name in ipairs({'status', 'fields', 'body'}) do
  if ARGV[5 + index] then answer[2 * index - 1], answer[2 * index] = name, ARGV[5 + index] end
end
local known = redis.call('HMGET', key('key', place), 'token', 'awaited', 'owner')
if known[1] ~= token or not known[3] then return end
forced()
if keptFor > 0 then
  redis.call('HDEL', key('key', place), 'owner', 'awaited')
  if #answer > 0 then redis.call('HSET', key('key', place), unpack(answer)) end
  redis.call('PEXPIRE', key('key', place), keptFor)
  local seq = redis.call('INCR', key('settled'))
  redis.call('ZADD', key('keys'), seq, place)
  if ARGV[8] then keepBody(place, seq, #ARGV[8]) end
  return trim()
end
redis.call('DEL', key('key', place))
if not known[2] then return end
redis.call('HSET', key('told', token), 'is', 1, unpack(answer))
redis.call('PEXPIRE', key('told', token), ${toldFor})
`);

/** Arguments: the place and the token. */
export const release = new Script<unknown>(`
if redis.call('HGET', key('key', ARGV[3]), 'token') == ARGV[4] and redis.call('HEXISTS', key('key', ARGV[3]), 'owner') == 1 then
  redis.call('DEL', key('key', ARGV[3]))
end
`); // prettier-ignore

/**
 * What came of those who have places. Arguments: places, each with a token.
 *
 * It answers for each: 0 where that is not known yet, 1 where the place is free again, and else with what came of it.
 */
export const look = new Script<(Told | 0 | 1)[]>(
  `
local told = {}
for index = 3, #ARGV, 2 do
  local place, token, outcome = ARGV[index], ARGV[index + 1], 1
  local known = redis.call('HMGET', key('key', place), 'token', 'owner', 'status', 'fields', 'body')
  if known[1] == token and known[2] then outcome = lives(known[2]) and 0 or 1
  elseif known[1] == token then outcome = {known[3], known[4], known[5]}
  else
    local rest = redis.call('HMGET', key('told', token), 'is', 'status', 'fields', 'body')
    if rest[1] then outcome = {rest[2], rest[3], rest[4]} end
  end
  told[#told + 1] = outcome
end
return told
`,
  true,
);
