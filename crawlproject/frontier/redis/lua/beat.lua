-- Record that a worker is alive, and return the state of the others. A worker that was silent for too long stops being a member.
--
-- KEYS   members, alive, tokens, reserved, pages, reports, epoch; all of one crawl
-- ARGV   worker, token, seconds that it may be silent, 'join' or 'new' or 'beat' or 'end', number of its pages, this number plus
--        the fetches in progress, its report
-- returns seconds and microseconds of the server's clock, epoch, 1 if the worker was known, members and reports as pairs, number
--        of pages of all workers, lost workers: those that joined and are no longer members, but did not leave

local members, alive, tokens, reserved, pages, reports, epoch = unpack(KEYS)
local worker, token, lease, mode = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local call = redis.call

local time = call('TIME')
local now = time[1] + time[2] / 1000000
local known = call('HGET', tokens, worker)
if mode == 'join' or mode == 'new' then
  if call('ZCOUNT', alive, now, '+inf') == 0 then -- all were away: each has the whole lease to return
    for _, who in ipairs(call('HKEYS', members)) do
      call('ZADD', alive, now + lease, who)
    end
  end
  call('HSET', tokens, worker, token)
elseif not known then
  return redis.error_reply('FORGOTTEN Redis has lost this crawl: it was cleared, or restarted without appendonly; what was fetched is in the crawl folder')
elseif known ~= token then
  return redis.error_reply('FENCED another process uses the name of this worker; give each its own CRAWL_WORKER')
end

local function leave(who)
  call('HDEL', members, who)
  call('HDEL', reports, who)
  call('ZREM', alive, who)
  call('HSET', reserved, who, call('HGET', pages, who) or 0)
  call('INCR', epoch)
end

for _, who in ipairs(call('ZRANGEBYSCORE', alive, '-inf', '(' .. now)) do
  if who ~= worker then
    leave(who)
  end
end
if mode == 'new' and call('HEXISTS', members, worker) == 1 then
  leave(worker) -- it rejoins below with a new epoch, so all others hand over to it again
end
if mode == 'end' then
  leave(worker)
  call('HSET', tokens, worker, '')
else
  if call('HEXISTS', members, worker) == 0 then
    call('HSET', members, worker, call('INCR', epoch))
  end
  call('ZADD', alive, now + lease, worker)
  call('HSET', pages, worker, ARGV[5])
  call('HSET', reserved, worker, ARGV[6]) -- pages that its failed fetches do not use become free for others
  call('HSET', reports, worker, ARGV[7])
end
local stored = 0
for _, number in ipairs(call('HVALS', pages)) do
  stored = stored + number
end
local lost = {}
local named = call('HGETALL', tokens)
for index = 1, #named, 2 do
  if named[index + 1] ~= '' and call('HEXISTS', members, named[index]) == 0 then
    lost[#lost + 1] = named[index]
  end
end
return {
  time[1], time[2], tonumber(call('GET', epoch) or 0), known and 1 or 0, call('HGETALL', members), call('HGETALL', reports), stored,
  lost,
}
