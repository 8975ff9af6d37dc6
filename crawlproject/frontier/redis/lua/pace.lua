-- How many of the fetches that a worker wants may begin now, if all workers share a rate. After a pause, some may begin at once.
--
-- KEYS   pace: the time of the next fetch of any worker; grants: worker -> its last question, newline, the answer
-- ARGV   worker, question, fetches (negative: it returns that many), fetches per second of all workers, fetches at once
-- returns fetches

local question, wanted, rate, burst = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local asked, answer = string.match(redis.call('HGET', KEYS[2], ARGV[1]) or '', '^([^\n]*)\n(.*)$')
if asked == question then
  return tonumber(answer)
end
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local next_ = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now - burst / rate)
next_ = math.min(next_, now + 1 / rate) -- it is later only if the clock was set back
local granted = math.min(wanted, 0)
while granted < wanted and next_ + granted / rate <= now do
  granted = granted + 1
end
redis.call('SET', KEYS[1], string.format('%.17g', next_ + granted / rate))
redis.call('HSET', KEYS[2], ARGV[1], question .. '\n' .. granted)
return granted
