-- What a worker tells all others. A message that has a number is kept once.
--
-- KEYS   messages, published
-- ARGV   worker, messages that are kept, then a number (0: none) and a message each
-- gives  nothing

local last = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0)
local latest = last
for index = 3, #ARGV, 2 do
  local number = tonumber(ARGV[index])
  if number == 0 or number > latest then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', ARGV[1], ARGV[index + 1])
    latest = math.max(latest, number)
  end
end
if latest > last then
  redis.call('HSET', KEYS[2], ARGV[1], latest)
end
