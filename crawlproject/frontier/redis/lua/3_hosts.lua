-- The states of hosts. A host of which a URL is being fetched is neither in OPEN nor in RESTING.

local some_unripe = call('EXISTS', RIPENING) == 1
local some_committed = COMMIT > 1 and call('EXISTS', COMMITTED) == 1
local some_blocked = call('EXISTS', BLOCKED) == 1
local some_dormant = call('EXISTS', DORMANT) == 1

local some_addresses = call('EXISTS', ADDRESS) == 1

-- The place of the host's address, or nil while that is not known.
local function place_of(host)
  return some_addresses and call('HGET', ADDRESS, host) or nil
end

local function due_at(name)
  local due = call('ZSCORE', CLOCK, name)
  return due and tonumber(due) or -math.huge
end

local function due_of(host)
  local at = place_of(host)
  return at and math.max(due_at(host), due_at(at)) or due_at(host)
end

local function is_lost(holder, now)
  return tonumber(call('ZSCORE', ALIVE, holder) or -math.huge) < now
end

-- Who visits the host, or another host of its address; nil: nobody.
local function visitor_of(host)
  local at = place_of(host)
  return call('HGET', BUSY, host) or at and call('HGET', BUSY, call('HGET', BUSY, at) or '') or nil
end

local function begin_visit(host)
  call('HSET', BUSY, host, ME)
  local at = place_of(host)
  if at then
    call('HSET', BUSY, at, host)
  end
end


-- The end of the host's block, or nil.
local function block_of(host)
  local till = some_blocked and call('ZSCORE', BLOCKED, host)
  return till and tonumber(till) or nil
end

-- When the host's clock and its block allow the next visit.
local function allowed_from(host)
  return math.max(due_of(host), block_of(host) or -math.huge)
end

-- Whether a URL of the host is being fetched for this crawl.
local function is_ours(holder)
  return holder and string.sub(holder, 1, #ROOT + 1) == ROOT .. '\n'
end

local function in_process(host)
  return is_ours(call('HGET', BUSY, host))
end

-- Let DORMANT say when a URL of the host may be taken, politeness aside, if none may now. rank: as in TOPS; nil: no URL.
local function watch_dormancy(host, rank)
  local wakes = rank and block_of(host)
  if rank == ALL_HELD then
    wakes = math.max(wakes or 0, tonumber(call('ZRANGE', UNRIPE .. host, 0, 0, 'WITHSCORES')[2]))
  end
  if wakes then
    call('ZADD', DORMANT, exact(wakes), host)
    call('ZADD', DORMANT_RANKS, exact(rank), host)
    some_dormant = true
  elseif some_dormant then
    call('ZREM', DORMANT, host)
    call('ZREM', DORMANT_RANKS, host)
  end
end

local function is_committed(arrival)
  return some_committed and call('ZSCORE', COMMITTED, arrival)
end

-- Whether one URL comes before another of the same host.
local function comes_before(rank, arrival, other_rank, other)
  return rank < other_rank or (rank == other_rank and arrival < other)
end

-- The first URL of the host that may be taken, politeness and block aside: arrival and rank, or nil. Committed URLs only
-- count when they are asked for.
local function available(host, committed_too)
  local queue, from, chunk = QUEUE .. host, 0, 1
  while true do
    local some = call('ZRANGE', queue, from, from + chunk - 1, 'WITHSCORES')
    for index = 1, #some, 2 do
      local arrival = some[index]
      if committed_too or not is_committed(arrival) then
        return arrival, tonumber(some[index + 1])
      end
    end
    if #some < 2 * chunk then
      return nil
    end
    from, chunk = from + chunk, 32
  end
end

-- The first URL of the host, held or not, and its rank; the first that may be taken, and its rank. nil where there is none.
local function firsts_of(host)
  local arrival, rank = available(host, true)
  local held = some_unripe and call('ZRANGE', HELD .. host, 0, 0, 'WITHSCORES') or {}
  local held_rank = tonumber(held[2])
  if held_rank and (not rank or comes_before(held_rank, held[1], rank, arrival)) then
    return held[1], held_rank, arrival, rank
  end
  return arrival, rank, arrival, rank
end

-- The last URL of the host that is not committed and its rank, or nil: what a full frontier drops first.
local function last_uncommitted(host)
  local from, last = 0, nil
  repeat
    last = call('ZREVRANGE', QUEUE .. host, from, from, 'WITHSCORES')
    from = from + 1
  until not last[1] or not is_committed(last[1])
  local held = some_unripe and call('ZREVRANGE', HELD .. host, 0, 0, 'WITHSCORES') or {}
  if held[1] and (not last[1] or comes_before(tonumber(last[2]), last[1], tonumber(held[2]), held[1])) then
    last = held
  end
  return last[1], tonumber(last[2])
end

-- Let one of the three indexes name ``arrival`` for ``host``; nil: not this host.
local function index(zset, host, old, arrival, rank)
  if old ~= NOBODY and old ~= arrival then
    call('ZREM', zset, old .. host)
  end
  if arrival then
    call('ZADD', zset, exact(rank), arrival .. host)
  end
  return arrival or NOBODY
end

-- A rank as TOPS has it.
local function rank_in_tops(text)
  local rank = tonumber(text)
  return rank > LEAST and rank or -math.huge
end

-- Let TOPS and LATE tell of the URLs of a host: its best, and its best that is not held (nil: all are, or there is none).
-- What TOPS names, and the rank there.
local function place_top(host, old, best, best_rank, arrival, rank)
  if some_unripe then
    if best and best ~= arrival then
      call('ZADD', LATE, exact(best_rank), host)
    else
      call('ZREM', LATE, host)
    end
  end
  local top_rank = best and (arrival and math.max(rank, LEAST) or ALL_HELD)
  return index(TOPS, host, old, arrival or best, top_rank), top_rank
end

-- Let the host enter the state it belongs to. ``stays``: neither its clock nor its lease changed, so an open host stays open.
local function place(host, stays)
  local heads = call('HGET', HEADS, host)
  local open, top, worst = NOBODY, NOBODY, NOBODY
  if heads then
    open, top, worst = string.sub(heads, 1, 6), string.sub(heads, 7, 12), string.sub(heads, 13, 18)
  end
  local first, first_rank, arrival, rank = firsts_of(host)
  local top_rank
  top, top_rank = place_top(host, top, first, first_rank, arrival, rank)
  if meta.worst == 1 then
    worst = index(WORST, host, worst, last_uncommitted(host))
  end
  local opens
  if not first or in_process(host) then
    arrival = nil
  else
    if some_committed then
      arrival, rank = available(host)
    end
    if arrival then
      opens = allowed_from(host)
    elseif some_unripe then
      local ripe = call('ZRANGE', UNRIPE .. host, 0, 0, 'WITHSCORES')[2]
      opens = ripe and math.max(allowed_from(host), tonumber(ripe))
    end
  end
  if arrival and (opens == -math.huge or (stays and open ~= NOBODY)) then
    open = index(OPEN, host, open, arrival, rank)
    call('ZREM', RESTING, host)
  else
    open = index(OPEN, host, open, nil)
    if opens then
      call('ZADD', RESTING, exact(opens), host)
    else
      call('ZREM', RESTING, host)
    end
  end
  if some_unripe or some_blocked or some_dormant then
    watch_dormancy(host, top_rank)
  end
  local now_heads = open .. top .. worst
  if now_heads == NOBODY .. NOBODY .. NOBODY then
    call('HDEL', HEADS, host)
  elseif now_heads ~= heads then
    call('HSET', HEADS, host, now_heads)
  end
end

-- A URL joined the host's queue: most are neither its best nor its worst, and change nothing else.
local function place_newcomer(host, arrival)
  local queue = QUEUE .. host
  local changes = some_unripe
    or some_committed
    or some_blocked
    or call('ZRANGE', queue, 0, 0)[1] == arrival
    or (meta.worst == 1 and call('ZRANGE', queue, -1, -1)[1] == arrival)
  if changes then
    place(host, true)
  end
end

local function watch_ripening(host)
  local ripe = call('ZRANGE', UNRIPE .. host, 0, 0, 'WITHSCORES')[2]
  if ripe then
    call('ZADD', RIPENING, ripe, host)
    some_unripe = true
  else
    call('ZREM', RIPENING, host)
  end
end

local function rest(host, finish, seconds)
  local asked = tonumber(call('HGET', DELAY, host) or 0)
  local pause = math.max(MIN_DELAY, asked, FACTOR * seconds)
  local due = pause > 0 and finish + pause + MARGIN or finish
  for _, name in ipairs({ host, place_of(host) }) do
    if due > due_at(name) then
      call('ZADD', CLOCK, exact(due), name)
    end
  end
end

-- URLs whose time has come may be taken, blocks end, and hosts that have rested may be visited.
local function pass_time(now)
  if some_blocked then
    call('ZREMRANGEBYSCORE', BLOCKED, '-inf', exact(now))
  end
  if some_dormant then
    for _, host in ipairs(call('ZRANGEBYSCORE', DORMANT, '-inf', exact(now))) do
      call('ZREM', DORMANT_RANKS, host)
    end
    call('ZREMRANGEBYSCORE', DORMANT, '-inf', exact(now))
  end
  if some_unripe then
    for _, host in ipairs(call('ZRANGEBYSCORE', RIPENING, '-inf', exact(now))) do
      for _, arrival in ipairs(call('ZRANGEBYSCORE', UNRIPE .. host, '-inf', exact(now))) do
        call('ZADD', QUEUE .. host, call('ZSCORE', HELD .. host, arrival), arrival)
        call('ZREM', HELD .. host, arrival)
      end
      call('ZREMRANGEBYSCORE', UNRIPE .. host, '-inf', exact(now))
      watch_ripening(host)
      place(host, true)
    end
  end
  for _, host in ipairs(call('ZRANGEBYSCORE', RESTING, '-inf', exact(now))) do
    local arrival, rank = available(host)
    call('ZREM', RESTING, host)
    if arrival then
      local heads = call('HGET', HEADS, host)
      index(OPEN, host, string.sub(heads, 1, 6), arrival, rank)
      call('HSET', HEADS, host, arrival .. string.sub(heads, 7))
    end
  end
  call('ZREMRANGEBYSCORE', CLOCK, '-inf', exact(now - CLOCK_SLACK))
end

local function leave_place(host)
  local at = place_of(host)
  if at and call('HGET', BUSY, at) == host then
    call('HDEL', BUSY, at)
    local parked = call('SMEMBERS', PARKED .. at)
    call('DEL', PARKED .. at)
    for _, other in ipairs(parked) do
      place(other)
    end
  end
end

-- The visit of this crawl ends, if it is one.
local function end_visit(host)
  if in_process(host) then
    call('HDEL', BUSY, host)
    leave_place(host)
  end
end

-- Whether an open host may be visited after all: another crawl may be there, or have been.
local function visitable(host, now)
  if due_of(host) > now then
    place(host)
    return false
  end
  local holder = visitor_of(host)
  if not holder then
    return true
  end
  if is_lost(holder, now) then
    call('HDEL', BUSY, host) -- its visitor is lost
    return true
  end
  local heads = call('HGET', HEADS, host)
  call('ZREM', OPEN, string.sub(heads, 1, 6) .. host)
  call('HSET', HEADS, host, NOBODY .. string.sub(heads, 7))
  if is_ours(holder) then
    call('SADD', PARKED .. place_of(host), host) -- until the visit to its address ends
  else
    call('ZADD', RESTING, exact(now + BUSY_LOOK), host)
  end
  return false
end
