-- A visit to a host, or to an address, begins, unless somebody else visits it, or it rests.
--
-- KEYS   its clock: whose visit it is, or empty while it rests
-- ARGV   worker of a crawl, token of its process, number of the visit, milliseconds after which it is over in any case
-- gives  0: it has begun; milliseconds until it has rested; -1: it is being visited

local held = redis.call('GET', KEYS[1])
if held == '' then
  return math.max(1, redis.call('PTTL', KEYS[1]))
elseif held then
  local who, token, number = string.match(held, '^([^\n]*)\n([^\n]*)\n(.*)$')
  if who ~= ARGV[1] or (token == ARGV[2] and number ~= ARGV[3]) then -- a process before this one is gone
    return -1
  end
end
redis.call('SET', KEYS[1], ARGV[1] .. '\n' .. ARGV[2] .. '\n' .. ARGV[3], 'PX', ARGV[4])
return 0
