-- Store a message for the next worker that fetches a URL; an empty message removes the stored one. A message whose number is not
-- higher than that of the stored one is dropped.
--
-- KEYS   attached
-- ARGV   URL, number, message
-- returns nothing

local found = redis.call('HGET', KEYS[1], ARGV[1])
if found and tonumber(string.match(found, '^[^\n]*')) >= tonumber(ARGV[2]) then
  return
elseif ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '\n' .. ARGV[3])
end
