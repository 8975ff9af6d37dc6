-- Which URL is next, under the k rule of one worker: ``picks`` are the hosts of its last picks, oldest first.

local RULED = COMMIT > 1 and WASTE or ACTIVE -- up to which class hosts are the matter of the k rule
local set_limits, hosts_of, ruled_hosts, choose, next_due

do -- a chunk has at most 200 local names: the others stay inside
  -- The floors of the worker that asks: hosts of class ACTIVE up to these ranks in TOPS stay so, or are SPARE. Its ceiling: up
  -- to which class URLs are taken while a host of a lower class is awake.
  local floor, spare, ceiling = math.huge, math.huge, WASTE

  function set_limits(rank, spare_rank, class)
    if COMMIT == 1 then
      floor = math.max(rank, LEAST)
      spare = math.max(floor, spare_rank)
      ceiling = class
    end
  end

  local function has_floor()
    return floor < math.huge
  end

  function hosts_of(class)
    return in_use(class) and call('ZCARD', of_class(TOPS, class)) or 0
  end

  -- Hosts of the classes that the k rule concerns, those of class ACTIVE up to this rank.
  function ruled_hosts(last)
    local hosts = 0
    for class = 0, RULED do
      if class == ACTIVE and last < math.huge then
        hosts = hosts + call('ZCOUNT', TOPS, '-inf', exact(last))
      else
        hosts = hosts + hosts_of(class)
      end
    end
    return hosts
  end

  -- Hosts that count for the k rule; those of other slots are counted without the floor.
  local function hosts_waiting()
    return ruled_hosts(floor) + HOSTS_ELSEWHERE
  end

  -- Hosts that count for the k rule and are dormant at this time; above a floor those of class ACTIVE that are so now.
  local function hosts_asleep(at)
    local asleep = 0
    for class = 0, some_dormant and RULED or -1 do
      if class == ACTIVE and has_floor() then
        asleep = asleep + call('ZCOUNT', DORMANT_RANKS, '-inf', exact(floor))
      elseif in_use(class) then
        asleep = asleep + call('ZCOUNT', of_class(DORMANT, class), '(' .. exact(at), '+inf')
      end
    end
    return asleep
  end

  -- Whether a barred host may be visited at this time: always, or when fewer than k hosts count then, dormant ones aside.
  -- Above a floor a worker may ask too early.
  local function allows_barred(at)
    return not STRICT or hosts_waiting() - hosts_asleep(at) < K
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

  -- The ranks of the hosts of class ACTIVE that the floors put into a class (as ZRANGEBYSCORE has them), or nil.
  local function ranks_in(class)
    if class == ACTIVE then
      return '-inf', exact(floor)
    elseif class == SPARE and floor < spare then
      return '(' .. exact(floor), exact(spare)
    elseif class == INACTIVE and spare < math.huge then
      return '(' .. exact(spare), '+inf'
    end
  end

  -- Look for the first host in a part of OPEN that may be visited: {host, arrival, rank, class}, or nil. Those that ``rule``
  -- bars are passed over; of these it keeps the one picked longest ago, if it allows any. nil: the k rule does not matter.
  local function first_open(now, class, first, last, rule)
    local from, barred = 0, rule and rule.barred or {}
    while true do
      local some = call('ZRANGEBYSCORE', of_class(OPEN, class), first, last, 'WITHSCORES', 'LIMIT', from, 16)
      local stayed = 0
      for place_ = 1, #some, 2 do
        local arrival, host = string.sub(some[place_], 1, 6), string.sub(some[place_], 7)
        local picked = barred[host]
        if picked and rule.allowed == nil then
          rule.allowed = allows_barred(now)
        end
        if picked and not rule.allowed then
          stayed = stayed + 1
        elseif visitable(host, now) then
          local found = { host = host, arrival = arrival, rank = tonumber(some[place_ + 1]), class = class }
          if not picked then
            return found
          end
          if not rule.oldest or picked < barred[rule.oldest.host] then
            rule.oldest = found
          end
          stayed = stayed + 1
        end
      end
      if #some < 32 then
        return nil
      end
      from = from + stayed
    end
  end

  -- The same in a class, with the hosts that the floors put there.
  local function first_in_class(now, class, rule)
    local found = class ~= ACTIVE and uses[class] and first_open(now, class, '-inf', '+inf', rule) or nil
    local from, to = ranks_in(class)
    local other = from and first_open(now, ACTIVE, from, to, rule)
    if not found or (other and is_better(other, found)) then
      return other
    end
    return found
  end

  -- Whether a URL of a host in the class may be taken sooner or later, as things are. Those of other slots do not count.
  local function is_awake(class)
    local from, to = ranks_in(class)
    local hosts = from and call('ZCOUNT', TOPS, from, to) or 0
    if hosts > 0 and hosts > (some_dormant and call('ZCOUNT', DORMANT_RANKS, from, to) or 0) then
      return true
    end
    hosts = class ~= ACTIVE and hosts_of(class) or 0
    return hosts > 0 and hosts > (some_dormant and call('ZCARD', of_class(DORMANT, class)) or 0)
  end

  -- Up to which class URLs are taken: the ceiling, or the lowest class with a host that is awake.
  local function highest_class()
    for class = 0, ceiling < WASTE and WASTE or -1 do
      if is_awake(class) then
        return math.max(ceiling, class)
      end
    end
    return WASTE
  end

  local function choose_from_all(now, barred)
    local last, rule = highest_class(), { barred = barred }
    for class = 0, math.min(last, RULED) do
      local found = first_in_class(now, class, rule)
      if found then
        return found
      end
    end
    if rule.oldest then
      return rule.oldest
    end
    for class = RULED + 1, last do
      local found = first_in_class(now, class)
      if found then
        return found
      end
    end
  end

  -- The class of a host that rests.
  local function class_of_resting(host)
    local top = heads_of(host).top
    if top[2] ~= ACTIVE or not has_floor() then
      return top[2]
    end
    local rank = tonumber(call('ZSCORE', TOPS, top[1] .. host))
    return rank <= floor and ACTIVE or rank <= spare and SPARE or INACTIVE
  end

  -- Whether hosts may wait for others, or change what the k rule counts, by their class.
  local function classes_matter()
    local highest = ACTIVE
    for class in pairs(uses) do
      highest = math.max(highest, class)
    end
    return has_floor() or highest > RULED or ceiling < highest
  end

  -- When a resting host may be visited, by the rule too. Where classes matter it may be earlier: the next URL that is held may
  -- turn out to be of one that has to wait, and not all such hosts are passed over.
  local function first_rested_of_all(barred)
    local from, allowed, matter = 0, true, classes_matter()
    local last = matter and highest_class()
    local held_until = matter and call('ZRANGE', RIPENING, 0, 0, 'WITHSCORES')[2]
    held_until = held_until and tonumber(held_until) or math.huge
    while true do
      local some = call('ZRANGE', RESTING, from, from + 15, 'WITHSCORES')
      for place_ = 1, #some, 2 do
        local host, time = some[place_], tonumber(some[place_ + 1])
        if time >= held_until then
          return held_until
        end
        local class = matter and class_of_resting(host) or 0
        if from >= IDLE_LOOK or not matter or class <= last then
          if not barred[host] or class > RULED then
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

  -- What goes through the URLs of a host that may go, in order; nil: there is none.
  local function cursor_of(host)
    local classes, from, some, at = url_classes_of(host), 0, {}, 1
    local place_, cursor = 1, { host = host }
    function cursor.forward()
      at = at + 2
      while at > #some do
        if #some == 0 and from > 0 then
          place_, from = place_ + 1, 0
        end
        if not classes[place_] then
          return false
        end
        some = call('ZRANGE', of_host(QUEUE, host, classes[place_]), from, from + 15, 'WITHSCORES')
        from, at = from + 16, 1
      end
      cursor.arrival, cursor.rank, cursor.class = some[at], tonumber(some[at + 1]), classes[place_]
      return true
    end
    return cursor.forward() and cursor
  end

  -- Gives the hosts with URLs that may go, one by one, as TOPS has them: {arrival, rank, class, host}.
  local function tops_in_order()
    local class, at = -1, 0
    return function()
      while class <= WASTE do
        local top = in_use(class) and call('ZRANGE', of_class(TOPS, class), at, at, 'WITHSCORES') or {}
        at = at + 1
        if top[1] then
          local arrival, host = string.sub(top[1], 1, 6), string.sub(top[1], 7)
          return { arrival = arrival, rank = rank_in_tops(top[2]), class = class, host = host }
        end
        class = class + 1
        at = in_use(class) and call('ZCOUNT', of_class(TOPS, class), '-inf', '-inf') or 0
      end
    end
  end

  -- The first COMMIT URLs that may go, hosts aside: the queues of the hosts with the first heads, merged.
  local function best_of_all()
    local cursors, best, next_top = {}, {}, tops_in_order()
    local top = next_top()
    while #best < COMMIT do
      local first
      for place_, cursor in ipairs(cursors) do
        if not first or comes_before(cursor, cursors[first]) then
          first = place_
        end
      end
      if top and (not first or comes_before(top, cursors[first])) then
        cursors[#cursors + 1] = cursor_of(top.host) or nil
        top = next_top()
      elseif not first then
        break
      else
        local cursor = cursors[first]
        best[#best + 1] = { cursor.arrival, cursor.host }
        if not cursor.forward() then
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

  -- The committed URLs by position, each as it is taken; ``is_open``: whether the host may be visited, ``opens``: when.
  local function batch(now)
    local known, urls = {}, {}
    for _, arrival in ipairs(call('ZRANGE', COMMITTED, 0, -1)) do
      local _, host, _, _, class = parts_of(arrival)
      local rank = call('ZSCORE', of_host(QUEUE, host, class), arrival)
      local state = known[host]
      if not state then
        local due, holder = allowed_from(host), visitor_of(host)
        local mine = in_process(host)
        local lost = holder and tonumber(call('ZSCORE', ALIVE, holder) or -math.huge) < now
        local busy = holder and not lost
        state = { not busy and due <= now, not mine and (busy and math.max(due, now + BUSY_LOOK) or due) }
        known[host] = state
      end
      urls[#urls + 1] = {
        host = host, arrival = arrival, rank = tonumber(rank), class = class, is_open = state[1], opens = state[2],
      }
    end
    return urls
  end

  -- Whether every host of the batch is barred by the rule or blocked.
  local function is_stopped(urls, barred, now)
    for _, url in ipairs(urls) do
      if not barred[url.host] and (block_of(url.host) or now) <= now then
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
      if url.is_open then
        if not barred[url.host] then
          return url
        end
        if not oldest or barred[url.host] < barred[oldest.host] then
          oldest = url
        end
      end
    end
    if is_stopped(urls, barred, now) then
      local found = choose_from_all(now, barred)
      if found then
        return found
      end
    end
    if oldest and allows_barred(now) then
      return oldest
    end
  end

  local function first_rested_under_commitment(now, barred)
    local urls = batch(now)
    local due = is_stopped(urls, barred, now) and first_rested_of_all(barred) or nil
    for _, url in ipairs(urls) do
      if url.opens and url.opens > now and (not barred[url.host] or allows_barred(url.opens)) then
        due = math.min(due or math.huge, url.opens)
      end
    end
    return due
  end

  -- ----------------------------------------------------------------

  -- What is taken next: {host, arrival, rank, class in which the host is, the floor aside}, or nil.
  function choose(now, picks, seed)
    local barred = barred_by(picks)
    if COMMIT > 1 then
      return choose_under_commitment(now, barred, seed)
    end
    return choose_from_all(now, barred)
  end

  function next_due(now, picks, seed)
    if choose(now, picks, seed) then
      return now
    end
    if COMMIT > 1 then
      return first_rested_under_commitment(now, barred_by(picks))
    end
    return first_rested_of_all(barred_by(picks))
  end
end
