-- A message for whoever fetches a URL next; an empty one: none. One that has no higher number than that before is not kept.
--
-- KEYS   attached
-- ARGV   URL, number, message
-- gives  nothing

local found = redis.call('HGET', KEYS[1], ARGV[1])
if found and tonumber(string.match(found, '^[^\n]*')) >= tonumber(ARGV[2]) then
  return
elseif ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '\n' .. ARGV[3])
end
