-- Reserve pages for a worker, so that all workers together do not store more than the page budget.
--
-- KEYS   reserved
-- ARGV   worker, pages that it has stored or is fetching, how many more it wants, page budget of all workers
-- returns how many more it may fetch

local others = 0
local all = redis.call('HGETALL', KEYS[1])
for index = 1, #all, 2 do
  if all[index] ~= ARGV[1] then
    others = others + all[index + 1]
  end
end
local own, wanted, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local granted = math.max(0, math.min(wanted, most - others - own))
redis.call('HSET', KEYS[1], ARGV[1], own + granted)
return granted
