-- URLs come, change and go. Whoever calls these lets the host be placed.

-- digest, host, time to come (empty for any time), what the client wrote, class
local function parts_of(arrival)
  local record = call('HGET', RECORDS, arrival)
  local host_ends = string.find(record, '\n', 17, true)
  local time_ends = string.find(record, '\n', host_ends + 1, true)
  local time, class = string.match(string.sub(record, host_ends + 1, time_ends - 1), '^(%S*) ?(%x?)$')
  return string.sub(record, 1, 16),
    string.sub(record, 17, host_ends - 1),
    time,
    string.sub(record, time_ends + 1),
    class ~= '' and tonumber(class, 16) or ACTIVE
end

-- A URL of class ACTIVE is written as before there were classes.
local function write_record(digest, host, arrival, not_before, blob, class)
  local time = not_before ~= 0 and exact(not_before) or ''
  local after = class == ACTIVE and '' or ' ' .. digit_of(class)
  call('HSET', RECORDS, arrival, digest .. host .. '\n' .. time .. after .. '\n' .. blob)
end

local function words_of(text)
  local words = {}
  for word in string.gmatch(text, '%S+') do
    words[#words + 1] = word
  end
  return words
end

-- ``best``, as a client wrote it, with the better of its path and that of ``other``, another record of its URL: the lesser
-- depth, and the larger of each inherited value.
local function merge_paths(best, other)
  local path, rest = string.match(best, '^([^\n]*)\n(.*)$')
  local other_path = string.match(other, '^([^\n]*)\n')
  if not path or not other_path then
    return best -- of an earlier version, which wrote no line of it
  end
  local values, others = words_of(path), words_of(other_path)
  if tonumber(others[1]) < tonumber(values[1]) then
    values[1] = others[1]
  end
  for place_ = 2, #values == #others and #values or 0 do
    if tonumber(others[place_]) > tonumber(values[place_]) then
      values[place_] = others[place_]
    end
  end
  return table.concat(values, ' ') .. '\n' .. rest
end

-- Add to the answer, for a client whose clock may be another: rank, time to come, class, what it wrote.
local function describe(arrival, rank, answer)
  local _, _, time, blob, class = parts_of(arrival)
  answer[#answer + 1] = rank
  answer[#answer + 1] = time ~= '' and exact(time - shift) or '0'
  answer[#answer + 1] = tostring(class)
  answer[#answer + 1] = blob
  return answer
end

-- The class of a URL that waits.
local function class_of(host, arrival)
  if url_classes_of(host) == JUST_ACTIVE then
    return ACTIVE
  end
  local _, _, _, _, class = parts_of(arrival)
  return class
end

-- The rank of a URL that waits in a class, or nil.
local function rank_of(host, arrival, class)
  local rank = call('ZSCORE', of_host(QUEUE, host, class), arrival)
    or (some_unripe and call('ZSCORE', of_host(HELD, host, class), arrival))
  return rank and tonumber(rank) or nil
end

local function enter(host, arrival, rank, not_before, class)
  note_urls(host, class, true)
  call('ZADD', of_host(not_before > 0 and HELD or QUEUE, host, class), exact(rank), arrival)
  if not_before > 0 then
    call('ZREM', of_host(QUEUE, host, class), arrival)
    call('ZADD', UNRIPE .. host, exact(not_before), arrival)
    watch_ripening(host)
    if some_committed then
      call('ZREM', COMMITTED, arrival)
    end
  elseif some_unripe and call('ZREM', UNRIPE .. host, arrival) == 1 then
    call('ZREM', of_host(HELD, host, class), arrival)
    watch_ripening(host)
  end
end

-- A URL that waits does so in another class, held or not as before.
local function change_class(host, arrival, old, new)
  note_urls(host, new, true)
  for _, key in ipairs(some_unripe and { QUEUE, HELD } or { QUEUE }) do
    local rank = call('ZSCORE', of_host(key, host, old), arrival)
    if rank then
      call('ZADD', of_host(key, host, new), rank, arrival)
      call('ZREM', of_host(key, host, old), arrival)
    end
  end
end

local function leave(host, arrival)
  local class = class_of(host, arrival)
  call('ZREM', of_host(QUEUE, host, class), arrival)
  if some_unripe and call('ZREM', UNRIPE .. host, arrival) == 1 then
    call('ZREM', of_host(HELD, host, class), arrival)
    watch_ripening(host)
  end
  if some_committed then
    call('ZREM', COMMITTED, arrival)
  end
end

local function evict(arrival, host)
  local digest = parts_of(arrival)
  leave(host, arrival)
  call('HDEL', RECORDS, arrival)
  forget(digest)
  count('evicted', 1)
  place(host, true)
end

-- URLs that wait, without those of the batch of Best-N-First, which have left the buffer (paper 001 Figure 1).
local function buffered()
  return waiting() - (some_committed and call('ZCARD', COMMITTED) or 0)
end

-- The last URL of the highest class: arrival, host, rank and class.
local function worst_of_all()
  for class = WASTE, 0, -1 do
    local last = in_use(class) and call('ZRANGE', of_class(WORST, class), -1, -1, 'WITHSCORES') or {}
    if last[1] then
      return string.sub(last[1], 1, 6), string.sub(last[1], 7), tonumber(last[2]), class
    end
  end
end

local room = 0 -- so many URLs may join before it is counted again

-- Evict the worst URL when the frontier is full. False: a newcomer of this rank and class would itself be the worst.
local function make_room(rank, class)
  if MAX_URLS == 0 then
    return true
  end
  room = room > 0 and room or MAX_URLS - buffered()
  if room > 0 then
    room = room - 1
    return true
  end
  place_changed()
  local arrival, host, worst, class_of_worst = worst_of_all()
  if not arrival or class > class_of_worst or (class == class_of_worst and rank >= worst and not NEWCOMERS_STAY) then
    return false
  end
  evict(arrival, host)
  return true
end

local function evict_surplus()
  room = 0
  while MAX_URLS > 0 and buffered() > MAX_URLS do
    place_changed()
    local worst, of = worst_of_all()
    evict(worst, of)
  end
end

local function lease_of(arrival)
  local lease = call('HGET', LEASES, arrival)
  if lease then
    local rank, question, worker = string.match(lease, '^([^\n]*)\n([^\n]*)\n(.*)$')
    return tonumber(rank), question, worker
  end
end

-- End a lease; the URL is neither leased nor waiting then.
local function end_lease(arrival, host)
  call('HDEL', LEASES, arrival)
  end_visit(host)
end

-- ``class``: nil for the one it had.
local function return_to_queue(arrival, host, digest, not_before, class)
  local rank = lease_of(arrival)
  local _, _, time, blob, old_class = parts_of(arrival)
  class = class or old_class
  end_lease(arrival, host)
  enter(host, arrival, rank, not_before, class)
  if class ~= old_class or exact(not_before) ~= (time == '' and '0' or time) then
    write_record(digest, host, arrival, not_before, blob, class)
  end
  if COMMIT > 1 and not_before == 0 then
    call('ZADD', COMMITTED, -1, arrival)
    some_committed = true
  end
  place(host)
  evict_surplus()
end

-- Nobody holds the worker's leases any more: the URLs wait again, their hosts rest from now on.
local function reclaim(worker, now)
  local all = call('HGETALL', LEASES)
  for index_ = 1, #all, 2 do
    local _, _, holder = string.match(all[index_ + 1], '^([^\n]*)\n([^\n]*)\n(.*)$')
    if holder == worker then
      local digest, host = parts_of(all[index_])
      rest(host, now, 0)
      return_to_queue(all[index_], host, digest, 0)
    end
  end
end

local function reclaim_from_the_lost(now)
  for _, who in ipairs(call('ZRANGEBYSCORE', ALIVE, '-inf', '(' .. exact(now))) do
    if string.sub(who, 1, #ROOT + 1) == ROOT .. '\n' then
      reclaim(string.sub(who, #ROOT + 2), now)
      call('ZREM', ALIVE, who)
    end
  end
end
