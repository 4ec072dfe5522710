// What the server does that is about no delivery in particular.

import { deliveries, noRoom } from "./layout";
import { Script } from "./script";

/** Drops what came before a time, and what there is no room for; answers whether there may be more. Arguments: these. */
export const tidy = new Script<number>(`${deliveries}
local old = redis.call('ZRANGEBYSCORE', key('aged'), '-inf', ARGV[3], 'LIMIT', 0, 100)
for _, id in ipairs(old) do drop(id) end
local room = makeRoom(0, tonumber(ARGV[4]))
if #old == 100 then return 1 end
return room and tonumber(redis.call('GET', key('bytes')) or 0) > tonumber(ARGV[4]) and 1 or 0
`);

/** Sees whether something can be kept. Arguments: how many bytes there may be, and a text as long as one may need. */
export const probe = new Script<unknown>(`${deliveries}
redis.call('SET', key('nothing'), ARGV[4])
redis.call('DEL', key('nothing'))
if not makeRoom(#ARGV[4], tonumber(ARGV[3])) then ${noRoom} end
`);

/** Says that this instance lives, and which connection is its. Arguments: for how long it lives without another, in ms. */
export const beat = new Script<unknown>(`
forced()
redis.call('SET', key('alive', me), 1, 'PX', ARGV[3])
redis.call('SET', key('fence', me), epoch, 'PX', 3600000)
`);

/** This instance is no more: others may take over what it worked on. */
export const leave = new Script<unknown>(`redis.call('DEL', key('alive', me), key('fence', me))`);
