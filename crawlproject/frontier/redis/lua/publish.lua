-- Publish messages of a worker to all others. A message with a number is stored only once.
--
-- KEYS   messages, published
-- ARGV   worker, number of messages to keep, then pairs of a number (0: none) and a message
-- returns nothing

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
