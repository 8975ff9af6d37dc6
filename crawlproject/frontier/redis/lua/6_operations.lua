-- The operations: each takes its arguments from ARGV and gives one answer. All of them may be repeated: a client that
-- got no answer sends the same call again.

local at = HEAD

local function argument()
  at = at + 1
  return ARGV[at]
end

local function number()
  return tonumber(argument())
end

local function time_argument()
  return number() + shift
end

-- nil: it was left empty.
local function not_before_argument()
  local value = number()
  return value and (value == 0 and 0 or value + shift)
end

local function split(text)
  local parts = {}
  for part in string.gmatch(text, '[^\n]+') do
    parts[#parts + 1] = part
  end
  return parts
end

-- The arrival and the host of a URL that waits, or nothing.
local function waits(digest)
  local arrival = look_up(digest)
  return arrival and arrival ~= '' and call('HEXISTS', LEASES, arrival) == 0 and arrival
end

-- Whether the lease is of this worker.
local function mine(arrival)
  local _, _, worker = lease_of(arrival)
  return worker == WORKER
end

local function to_done(digest, host, arrival)
  if arrival and arrival ~= '' then
    leave(host, arrival)
    call('HDEL', RECORDS, arrival)
  end
  remember(digest, '')
end

local answer_of = {}

-- Another link leads to a URL that waits, or is leased: then nothing happens.
local function found_again(digest, host, arrival, rank, not_before, class, blob)
  local _, _, time, there, old_class = parts_of(arrival)
  local old_rank = rank_of(host, arrival, old_class)
  if not old_rank then
    return
  end
  if class < old_class or (class == old_class and rank < old_rank) then
    write_record(digest, host, arrival, not_before, merge_paths(blob, there), class)
    if class ~= old_class then
      change_class(host, arrival, old_class, class)
    end
    enter(host, arrival, rank, not_before, class)
    place_later(host)
    evict_surplus()
    return
  end
  local merged = merge_paths(there, blob)
  if merged ~= there then
    write_record(digest, host, arrival, tonumber(time) or 0, merged, old_class)
  end
end

-- digest host rank not_before class record -> 1 it waits now, 0 known, -1 the frontier is full of better ones, -2 the host is
-- full, -3 done
function answer_of.put()
  local digest, host, rank, not_before, class = argument(), argument(), number(), not_before_argument(), number()
  local blob = argument()
  local arrival = look_up(digest)
  if arrival == '' then
    return -3
  end
  if arrival then
    found_again(digest, host, arrival, rank, not_before, class, blob)
    return 0
  end
  if MAX_PER_HOST > 0 and tonumber(call('HGET', ADMITTED, host) or 0) >= MAX_PER_HOST then
    return -2
  end
  if not make_room(rank, class) then
    return -1
  end
  count('arrivals', 1)
  arrival = struct.pack('>I6', meta.arrivals)
  remember(digest, arrival)
  write_record(digest, host, arrival, not_before, blob, class)
  enter(host, arrival, rank, not_before, class)
  if MAX_PER_HOST > 0 then
    call('HINCRBY', ADMITTED, host, 1)
  end
  place_newcomer(host, arrival, class)
  return 1
end

-- A URL that was fetched waits for its next visit; ``rank`` is nil for the one it had.
local function wait_again(digest, host, arrival, refetch_at, rank)
  local old = lease_of(arrival)
  if old then
    end_lease(arrival, host)
  end
  local _, _, _, blob, class = parts_of(arrival)
  write_record(digest, host, arrival, refetch_at, blob, class)
  enter(host, arrival, rank or old or rank_of(host, arrival, class), refetch_at, class)
  place(host)
  evict_surplus()
end

-- digest host at seconds refetch_at rank -> 1 a lease of this worker ended, else 0. refetch_at: empty for a URL that is not
-- visited again; rank: empty for the one it had.
answer_of['done'] = function()
  local digest, host, finish, seconds = argument(), argument(), time_argument(), number()
  local refetch_at, rank = not_before_argument(), number()
  local arrival = look_up(digest)
  if arrival == '' then
    return 0
  end
  rest(host, finish, seconds)
  local leased = arrival and lease_of(arrival)
  if leased and not mine(arrival) then
    place(host)
    return 0 -- it took so long that another worker has the URL now, and will end it
  end
  if refetch_at and arrival then
    wait_again(digest, host, arrival, refetch_at, rank)
    return leased and 1 or 0
  end
  if leased then
    end_lease(arrival, host)
  end
  to_done(digest, host, arrival)
  place(host)
  return leased and 1 or 0
end

-- digest host at seconds not_before -> 1 a lease of this worker ended, else 0
function answer_of.release()
  local digest, host, finish, seconds = argument(), argument(), time_argument(), number()
  local not_before = not_before_argument()
  local arrival = look_up(digest)
  if not arrival or arrival == '' or not lease_of(arrival) or not mine(arrival) then
    return 0
  end
  rest(host, finish, seconds)
  return_to_queue(arrival, host, digest, not_before)
  return 1
end

-- digest host not_before waits -> 1 a lease of this worker ended without a visit, 2 the URL waits, 0 it does neither, or
-- ``waits`` is 1: it is to wait already
function answer_of.hold()
  local digest, host, not_before, only = argument(), argument(), not_before_argument(), argument() == '1'
  local arrival = look_up(digest)
  if not arrival or arrival == '' then
    return 0
  end
  if lease_of(arrival) then
    if only or not mine(arrival) then
      return 0
    end
    return_to_queue(arrival, host, digest, not_before)
    return 1
  end
  local _, _, _, blob, class = parts_of(arrival)
  write_record(digest, host, arrival, not_before, blob, class)
  enter(host, arrival, rank_of(host, arrival, class), not_before, class)
  place(host, true)
  evict_surplus()
  return 2
end

-- digest host class waits -> as ``hold``. A URL that waits keeps its time to come.
function answer_of.precedence()
  local digest, host, class, only = argument(), argument(), number(), argument() == '1'
  local arrival = look_up(digest)
  if not arrival or arrival == '' then
    return 0
  end
  if lease_of(arrival) then
    if only or not mine(arrival) then
      return 0
    end
    return_to_queue(arrival, host, digest, 0, class)
    return 1
  end
  local _, _, time, blob, old_class = parts_of(arrival)
  if class ~= old_class then
    write_record(digest, host, arrival, tonumber(time) or 0, blob, class)
    change_class(host, arrival, old_class, class)
    place(host, true)
  end
  return 2
end

-- digest host waits -> 1 a lease of this worker ended, else 0; ``waits`` is 1: no lease is to end
function answer_of.drop()
  local digest, host, only = argument(), argument(), argument() == '1'
  local arrival = look_up(digest)
  local leased = arrival and arrival ~= '' and lease_of(arrival)
  if arrival == '' or (leased and (only or not mine(arrival))) then
    return 0
  end
  if leased then
    end_lease(arrival, host)
  end
  to_done(digest, host, arrival)
  place(host, not leased)
  return leased and 1 or 0
end

-- digest host rank -> 1 it waits, else 0
function answer_of.rescore()
  local digest, host, rank = argument(), argument(), number()
  local arrival = waits(digest)
  if not arrival then
    return 0
  end
  local class = class_of(host, arrival)
  if rank_of(host, arrival, class) ~= rank then
    local is_held = some_unripe and call('ZSCORE', UNRIPE .. host, arrival)
    call('ZADD', of_host(is_held and HELD or QUEUE, host, class), exact(rank), arrival)
    place_later(host)
  end
  return 1
end

-- host seconds -> 0. What is no finite, positive number takes the delay back.
function answer_of.delay()
  local host, seconds = argument(), number()
  if seconds and seconds > 0 and seconds < math.huge then
    call('HSET', DELAY, host, exact(seconds))
  else
    call('HDEL', DELAY, host)
  end
  return 0
end

-- host address now -> 1 nobody else visits it and it has rested, else 0. An empty address: the host is told apart.
function answer_of.address()
  local host, address, now = argument(), argument(), time_argument()
  local visits = in_process(host)
  if place_of(host) ~= (address ~= '' and '@' .. address or nil) then
    leave_place(host)
    if address == '' then
      call('HDEL', ADDRESS, host)
    else
      call('HSET', ADDRESS, host, '@' .. address)
      some_addresses = true
    end
    place(host)
  end
  local at = place_of(host)
  if not at then
    return 1
  end
  local visited = call('HGET', BUSY, at)
  local holder = visited and visited ~= host and call('HGET', BUSY, visited)
  if due_at(at) > now or (holder and not is_lost(holder, now)) then
    return 0
  end
  if visits then
    call('HSET', BUSY, at, host)
  end
  return 1
end

-- host beside now -> when the host may be visited; now: the visit has begun; inf: it is being visited. While a visit to the
-- host beside goes on, one to another host of its address is part of that.
function answer_of.visit()
  local host, beside, now = argument(), argument(), time_argument()
  local at = place_of(host)
  if beside ~= '' and (host == beside or (at and at == place_of(beside))) then
    return exact(now)
  end
  local holder = visitor_of(host)
  if holder and not is_lost(holder, now) then
    return 'inf'
  end
  local opens = allowed_from(host)
  if opens > now then
    return exact(opens)
  end
  begin_visit(host)
  place(host)
  return exact(now)
end

-- host at seconds -> 0. That visit has ended.
function answer_of.visited()
  local host, finish, seconds = argument(), time_argument(), number()
  rest(host, finish, seconds)
  end_visit(host)
  place(host)
  return 0
end

-- host time -> 0. No URL of the host is taken before the time; 0 lifts the block.
function answer_of.block()
  local host, till = argument(), not_before_argument()
  if till ~= 0 then
    call('ZADD', BLOCKED, exact(till), host)
    some_blocked = true
  else
    call('ZREM', BLOCKED, host)
  end
  place(host)
  return 0
end

-- host class -> 0. The class of the host itself.
function answer_of.host_precedence()
  local host, class = argument(), number()
  set_host_class(host, class)
  place(host, true)
  return 0
end

-- The message that is attached to a URL, or nil.
local function attached_to(digest)
  local found = call('HGET', ATTACHED, digest)
  return found and string.match(found, '^[^\n]*\n(.*)$')
end

-- digest number message -> 1: whoever leases the URL gets the message, until one of a higher number comes. An empty one: none.
function answer_of.attach()
  local digest, number_, message = argument(), number(), argument()
  local found = call('HGET', ATTACHED, digest)
  if found and tonumber(string.match(found, '^[^\n]*')) >= number_ then
    return 0
  end
  if message == '' then
    call('HDEL', ATTACHED, digest)
  else
    call('HSET', ATTACHED, digest, exact(number_) .. '\n' .. message)
  end
  return 1
end

-- question now n rate burst -> how many of n fetches may begin now, when all workers have ``rate`` a second, and ``burst`` at
-- once after a pause. A negative n gives so many back.
function answer_of.pace()
  local question, now, n, rate, burst = argument(), time_argument(), number(), number(), number()
  local last = call('HGET', GRANTS, WORKER) or ''
  local asked, answer = string.match(last, '^([^\n]*)\n(.*)$')
  if asked == question then
    return answer
  end
  local next_ = math.max(tonumber(call('GET', PACE) or 0), now - burst / rate)
  local granted = math.min(n, 0)
  while granted < n and next_ + granted / rate <= now do
    granted = granted + 1
  end
  call('SET', PACE, exact(next_ + granted / rate))
  call('HSET', GRANTS, WORKER, question .. '\n' .. granted)
  return tostring(granted)
end

-- -> {host, end of its block, rank of the first URL that could be taken without it or '', host, ...}
function answer_of.blocked()
  local all, answer = call('ZRANGE', BLOCKED, 0, -1, 'WITHSCORES'), {}
  for index_ = 1, #all, 2 do
    local first = available(all[index_], true)
    answer[#answer + 1] = all[index_]
    answer[#answer + 1] = exact(tonumber(all[index_ + 1]) - shift)
    answer[#answer + 1] = first and exact(first.rank) or ''
  end
  return answer
end

-- digest -> 1: the page behind this worker's lease counts. Asked before the lease ends.
function answer_of.page()
  local arrival = look_up(argument())
  if arrival and arrival ~= '' and lease_of(arrival) and mine(arrival) then
    count('pages', 1)
    return 1
  end
  return 0
end

-- digest counted -> 1 it was done, and is not known any more; ``counted``: as a stored page
function answer_of.forget()
  local digest, counted = argument(), argument() == '1'
  if look_up(digest) ~= '' then
    return 0
  end
  forget(digest)
  if counted and meta.pages > 0 then
    count('pages', -1)
  end
  return 1
end

-- digest -> 'waiting', 'leased', 'done' or ''
function answer_of.state()
  local arrival = look_up(argument())
  if not arrival then
    return ''
  end
  if arrival == '' then
    return 'done'
  end
  return call('HEXISTS', LEASES, arrival) == 1 and 'leased' or 'waiting'
end

-- digest -> {rank, time to come, class, record, worker that holds it or ''} of a URL that waits or is leased; else {}
function answer_of.record()
  local arrival = look_up(argument())
  if not arrival or arrival == '' then
    return {}
  end
  local _, host, _, _, class = parts_of(arrival)
  local rank, _, worker = lease_of(arrival)
  local answer = describe(arrival, exact(rank or rank_of(host, arrival, class)), {})
  answer[#answer + 1] = worker or ''
  return answer
end
