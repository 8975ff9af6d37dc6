-- Begin a visit to a host, or to an address, unless another worker visits it, or it rests.
--
-- KEYS   its clock: the worker, the token and the number of the visit in progress; empty while it rests
-- ARGV   worker of a crawl, token of its process, number of the visit, milliseconds after which the visit ends in any case
-- returns 0: the visit has begun; -1: another visit is in progress; else the milliseconds until the rest ends

local held = redis.call('GET', KEYS[1])
if held == '' then
  return math.max(1, redis.call('PTTL', KEYS[1]))
elseif held then
  local who, token, number = string.match(held, '^([^\n]*)\n([^\n]*)\n(.*)$')
  if who ~= ARGV[1] or (token == ARGV[2] and number ~= ARGV[3]) then -- an earlier process of this worker has ended
    return -1
  end
end
redis.call('SET', KEYS[1], ARGV[1] .. '\n' .. ARGV[2] .. '\n' .. ARGV[3], 'PX', ARGV[4])
return 0
