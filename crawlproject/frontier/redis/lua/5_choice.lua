-- Which URL is next, under the k rule of one worker: ``picks`` are the hosts of its last picks, oldest first.

-- The floor and the spare floor of the worker that asks: hosts up to these ranks in TOPS are active, and spare.
local floor, spare = math.huge, -math.huge

local function set_floors(rank, spare_rank)
  if COMMIT == 1 then
    floor = math.max(rank, LEAST)
    spare = math.max(spare, floor, spare_rank)
  end
end

local function has_floor()
  return floor < math.huge
end

local function hosts_up_to(rank)
  return call('ZCOUNT', TOPS, '-inf', exact(rank))
end

local function dormant_up_to(rank)
  return some_dormant and call('ZCOUNT', DORMANT_RANKS, '-inf', exact(rank)) or 0
end

-- Hosts that count for the k rule: the active ones; those of other slots all count.
local function hosts_waiting()
  return (has_floor() and hosts_up_to(floor) or call('ZCARD', TOPS)) + HOSTS_ELSEWHERE
end

-- Whether a barred host may be visited at this time: always, or when fewer than k hosts count then, dormant ones aside.
-- Above a floor they are counted as they are now, and a worker may ask too early.
local function allows_barred(at)
  if not STRICT then
    return true
  end
  local asleep = 0
  if has_floor() then
    asleep = dormant_up_to(floor)
  elseif some_dormant then
    asleep = call('ZCOUNT', DORMANT, '(' .. exact(at), '+inf')
  end
  return hosts_waiting() - asleep < K
end

-- host -> position of its last pick, for the hosts that the rule bars
local function barred_by(picks)
  local size = math.max(0, math.min(K, hosts_waiting()) - 1)
  local barred = {}
  for position = math.max(1, #picks - size + 1), #picks do
    barred[picks[position]] = position
  end
  return barred
end

-- The first open host with a rank from ``first`` (as ZRANGEBYSCORE has it) to ``last`` that the rule does not bar; else, if
-- the rule allows it, the one picked longest ago.
local function first_open(now, first, last, barred)
  local from, oldest, allowed = 0, nil, nil
  while true do
    local some = call('ZRANGEBYSCORE', OPEN, first, exact(last), 'WITHSCORES', 'LIMIT', from, 16)
    local stayed = 0
    for place_ = 1, #some, 2 do
      local arrival, host = string.sub(some[place_], 1, 6), string.sub(some[place_], 7)
      local picked = barred[host]
      if picked and allowed == nil then
        allowed = allows_barred(now)
      end
      if not picked or allowed then
        if visitable(host, now) then
          if not picked then
            return host, arrival, tonumber(some[place_ + 1])
          end
          if not oldest or picked < barred[oldest[1]] then
            oldest = { host, arrival, tonumber(some[place_ + 1]) }
          end
          stayed = stayed + 1
        end
      else
        stayed = stayed + 1
      end
    end
    if #some < 32 then
      break
    end
    from = from + stayed
  end
  if oldest then
    return unpack(oldest)
  end
end

-- Whether a URL of an active or spare host may be taken sooner or later, as things are. Those of other slots do not count.
local function any_awake()
  return hosts_up_to(spare) > dormant_up_to(spare)
end

-- Let the best of the inactive hosts that are not in process be spare. Whether there are any.
local function lower_spare()
  for from = 0, math.huge do
    local next_one = call('ZRANGEBYSCORE', TOPS, '(' .. exact(spare), '+inf', 'WITHSCORES', 'LIMIT', from, 1)
    if not next_one[1] then
      return false
    elseif not in_process(string.sub(next_one[1], 7)) then
      spare = tonumber(next_one[2])
      return true
    end
  end
end

local function choose_from_all(now, barred)
  local host, arrival, rank = first_open(now, '-inf', floor, barred)
  while not host and has_floor() do
    host, arrival, rank = first_open(now, '(' .. exact(floor), spare, {})
    if host or any_awake() or not lower_spare() then
      break
    end
  end
  return host, arrival, rank
end

-- The host's rank in TOPS; without a floor it is of no interest.
local function level_of(host)
  return has_floor() and tonumber(call('ZSCORE', TOPS, string.sub(call('HGET', HEADS, host), 7, 12) .. host)) or ALL_HELD
end

-- When a resting host may be visited, by the rule too. Above a floor it may be earlier: the next URL that is held may turn
-- out to be below it, and not all inactive hosts are passed over.
local function first_rested_of_all(barred)
  local from, allowed = 0, true
  local held_until = has_floor() and call('ZRANGE', RIPENING, 0, 0, 'WITHSCORES')[2]
  held_until = held_until and tonumber(held_until) or math.huge
  while true do
    local some = call('ZRANGE', RESTING, from, from + 15, 'WITHSCORES')
    for place_ = 1, #some, 2 do
      local host, time = some[place_], tonumber(some[place_ + 1])
      if time >= held_until then
        return held_until
      end
      local rank = level_of(host)
      if from >= INACTIVE_LOOK or not has_floor() or rank <= spare then
        if not barred[host] or rank > floor then
          return time
        end
        allowed = allowed and allows_barred(time)
        if allowed then
          return time
        end
      end
    end
    if #some < 32 then
      return held_until < math.huge and held_until or nil
    end
    from = from + 16
  end
end

-- ---------------------------------------------------------------- Best-N-First (paper 001 Figure 1)

-- The best COMMIT URLs that may go, hosts aside: the queues of the hosts with the best heads, merged.
local function best_of_all()
  local cursors, best, next_host = {}, {}, hosts_up_to(ALL_HELD)
  local function forward(cursor)
    cursor.at = cursor.at + 2
    if cursor.at > #cursor.some then
      cursor.from = cursor.from + #cursor.some / 2
      cursor.some = call('ZRANGE', QUEUE .. cursor.host, cursor.from, cursor.from + 15, 'WITHSCORES')
      cursor.at = 1
    end
    cursor.arrival, cursor.rank = cursor.some[cursor.at], tonumber(cursor.some[cursor.at + 1])
    return cursor.arrival ~= nil
  end
  local function before(rank, arrival, other)
    return comes_before(rank, arrival, other.rank, other.arrival)
  end
  while #best < COMMIT do
    local first
    for place_, cursor in ipairs(cursors) do
      if not first or before(cursor.rank, cursor.arrival, cursors[first]) then
        first = place_
      end
    end
    local head = call('ZRANGE', TOPS, next_host, next_host, 'WITHSCORES')
    if head[1] and (not first or before(rank_in_tops(head[2]), string.sub(head[1], 1, 6), cursors[first])) then
      next_host = next_host + 1
      local cursor = { host = string.sub(head[1], 7), from = 0, at = -1, some = {} }
      if forward(cursor) then
        cursors[#cursors + 1] = cursor
      end
    elseif not first then
      break
    else
      local cursor = cursors[first]
      best[#best + 1] = { cursor.arrival, cursor.host }
      if not forward(cursor) then
        table.remove(cursors, first)
      end
    end
  end
  return best
end

local function look_again(seed)
  local best = best_of_all()
  math.randomseed(seed)
  for last = #best, 2, -1 do
    local other = math.random(last)
    best[last], best[other] = best[other], best[last]
  end
  for position, url in ipairs(best) do
    call('ZADD', COMMITTED, position - 1, url[1])
  end
  some_committed = #best > 0
  for _, url in ipairs(best) do
    place(url[2], true)
  end
end

-- The committed URLs by position: {arrival, host, rank, whether the host may be visited, when it opens}.
local function batch(now)
  local known, urls = {}, {}
  for _, arrival in ipairs(call('ZRANGE', COMMITTED, 0, -1)) do
    local _, host = parts_of(arrival)
    local rank = call('ZSCORE', QUEUE .. host, arrival)
    local state = known[host]
    if not state then
      local due, holder = allowed_from(host), visitor_of(host)
      local mine = in_process(host)
      local lost = holder and tonumber(call('ZSCORE', ALIVE, holder) or -math.huge) < now
      local busy = holder and not lost
      state = { not busy and due <= now, not mine and (busy and math.max(due, now + BUSY_LOOK) or due) }
      known[host] = state
    end
    urls[#urls + 1] = { arrival, host, tonumber(rank), state[1], state[2] }
  end
  return urls
end

-- Whether every host of the batch is barred by the rule or blocked.
local function is_stopped(urls, barred, now)
  for _, url in ipairs(urls) do
    if not barred[url[2]] and (block_of(url[2]) or now) <= now then
      return false
    end
  end
  return true
end

local function choose_under_commitment(now, barred, seed)
  if not some_committed or call('EXISTS', COMMITTED) == 0 then
    look_again(seed)
  end
  local urls = batch(now)
  local oldest
  for _, url in ipairs(urls) do
    if url[4] then
      if not barred[url[2]] then
        return url[2], url[1], url[3]
      end
      if not oldest or barred[url[2]] < barred[oldest[2]] then
        oldest = url
      end
    end
  end
  if is_stopped(urls, barred, now) then
    local host, arrival, rank = choose_from_all(now, barred)
    if host then
      return host, arrival, rank
    end
  end
  if oldest and allows_barred(now) then
    return oldest[2], oldest[1], oldest[3]
  end
end

local function first_rested_under_commitment(now, barred)
  local urls = batch(now)
  local due = is_stopped(urls, barred, now) and first_rested_of_all(barred) or nil
  for _, url in ipairs(urls) do
    if url[5] and url[5] > now and (not barred[url[2]] or allows_barred(url[5])) then
      due = math.min(due or math.huge, url[5])
    end
  end
  return due
end

-- ----------------------------------------------------------------

local function choose(now, picks, seed)
  local barred = barred_by(picks)
  if COMMIT > 1 then
    return choose_under_commitment(now, barred, seed)
  end
  return choose_from_all(now, barred)
end

local function next_due(now, picks, seed)
  if choose(now, picks, seed) then
    return now
  end
  if COMMIT > 1 then
    return first_rested_under_commitment(now, barred_by(picks))
  end
  return first_rested_of_all(barred_by(picks))
end
