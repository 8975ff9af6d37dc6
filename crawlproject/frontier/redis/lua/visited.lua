-- End a visit: the host, or the address, rests from now on. Without a number, the worker fetched from it without a visit. A visit
-- that took longer than its limit counts as such a fetch.
--
-- KEYS   its clock
-- ARGV   worker of a crawl, token of its process, number of the visit or empty, milliseconds to rest; number 0: the visit of an
--        earlier process of this worker
-- returns nothing

local held, rest = redis.call('GET', KEYS[1]), tonumber(ARGV[4])
if ARGV[3] == '0' then
  local who, token = string.match(held or '', '^([^\n]*)\n([^\n]*)\n')
  if who ~= ARGV[1] or token == ARGV[2] then
    return
  end
elseif held ~= ARGV[1] .. '\n' .. ARGV[2] .. '\n' .. ARGV[3] then
  if (held and held ~= '') or redis.call('PTTL', KEYS[1]) >= rest then
    return
  end
end
if rest > 0 then
  redis.call('SET', KEYS[1], '', 'PX', ARGV[4])
else
  redis.call('DEL', KEYS[1])
end
