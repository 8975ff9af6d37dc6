-- The states of hosts. A host of which a URL is being fetched is neither in OPEN nor in RESTING.

local some_unripe = call('EXISTS', RIPENING) == 1
local some_committed = COMMIT > 1 and call('EXISTS', COMMITTED) == 1
local some_blocked = call('EXISTS', BLOCKED) == 1
local some_addresses = call('EXISTS', ADDRESS) == 1

-- The keys of all classes in use.
local function of_classes(key)
  local keys = {}
  for class = 0, WASTE do
    if in_use(class) then
      keys[#keys + 1] = of_class(key, class)
    end
  end
  return keys
end

local some_dormant = call('EXISTS', unpack(of_classes(DORMANT))) > 0

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

-- ---------------------------------------------------------------- classes

local looked_up = {} -- host -> what CLASSES has of it, or ''

-- The class of the host itself, and the other classes than ACTIVE in which URLs of it wait, as a text of digits.
local function classes_of(host)
  if not next(uses) then
    return ACTIVE, ''
  end
  local text = looked_up[host] or call('HGET', CLASSES, host) or ''
  looked_up[host] = text
  return text == '' and ACTIVE or tonumber(string.sub(text, 1, 1), 16), string.sub(text, 2)
end

local function write_classes(host, class, others)
  if class == ACTIVE and others == '' then
    looked_up[host] = ''
    call('HDEL', CLASSES, host)
  else
    looked_up[host] = digit_of(class) .. others
    call('HSET', CLASSES, host, looked_up[host])
  end
end

-- One below ACTIVE counts as ACTIVE.
local function set_host_class(host, class)
  local old, others = classes_of(host)
  use(old, -1)
  use(math.max(class, ACTIVE), 1)
  write_classes(host, math.max(class, ACTIVE), others)
end

-- URLs of the class wait in the host's queues, or no longer.
local function note_urls(host, class, wait)
  local of_itself, others = classes_of(host)
  local digit = digit_of(class)
  if class == ACTIVE or (string.find(others, digit, 1, true) ~= nil) == wait then
    return
  end
  use(class, wait and 1 or -1)
  write_classes(host, of_itself, wait and others .. digit or (string.gsub(others, digit, '')))
end

local JUST_ACTIVE = { ACTIVE }

-- The classes in which URLs of the host may wait, the lowest first.
local function url_classes_of(host)
  local _, others = classes_of(host)
  if others == '' then
    return JUST_ACTIVE
  end
  local classes = {}
  for class = 0, WASTE do
    if class == ACTIVE or string.find(others, digit_of(class), 1, true) then
      classes[#classes + 1] = class
    end
  end
  return classes
end

-- The class of the host itself, as far as it counts: under a commitment only those of URLs do.
local function host_class(host)
  return COMMIT > 1 and ACTIVE or (classes_of(host))
end

-- The class in which a URL of this class waits on the host, the floor aside.
local function class_on(host, class)
  local of_itself = host_class(host)
  return (class <= FIRST or of_itself == ACTIVE) and class or math.max(class, of_itself)
end

-- ---------------------------------------------------------------- the first URLs of a host: {arrival, rank, class}

local function is_committed(arrival)
  return some_committed and call('ZSCORE', COMMITTED, arrival)
end

-- Whether one URL comes before another of the same class.
local function is_better(url, other)
  return url.rank < other.rank or (url.rank == other.rank and url.arrival < other.arrival)
end

local function comes_before(url, other)
  return url.class < other.class or (url.class == other.class and is_better(url, other))
end

-- The first URL at an end of a queue, or nil. ``command``: ZRANGE or ZREVRANGE. Committed URLs only count when they are
-- asked for.
local function first_of_queue(command, key, host, class, committed_too)
  local queue, from, chunk = of_host(key, host, class), 0, 1
  while true do
    local some = call(command, queue, from, from + chunk - 1, 'WITHSCORES')
    for place_ = 1, #some, 2 do
      if committed_too or not is_committed(some[place_]) then
        return { arrival = some[place_], rank = tonumber(some[place_ + 1]), class = class }
      end
    end
    if #some < 2 * chunk then
      return nil
    end
    from, chunk = from + chunk, 32
  end
end

-- The first URL of the host that may be taken, politeness and block aside, or nil.
local function available(host, committed_too)
  for _, class in ipairs(url_classes_of(host)) do
    local url = first_of_queue('ZRANGE', QUEUE, host, class, committed_too)
    if url then
      return url
    end
  end
end

-- The first URL of the host, held or not; the first that may be taken. nil where there is none.
local function firsts_of(host)
  local ready = available(host, true)
  local first = ready
  for _, class in ipairs(url_classes_of(host)) do
    if ready and class > ready.class then
      break
    end
    local held = some_unripe and first_of_queue('ZRANGE', HELD, host, class, true)
    if held and (not ready or comes_before(held, ready)) then
      first = held
      break
    end
    if not ready or class < ready.class then
      note_urls(host, class, false)
    end
  end
  return first, ready
end

-- The last URL of the host that is not committed, or nil: what a full frontier drops first.
local function last_uncommitted(host)
  local classes = url_classes_of(host)
  for place_ = #classes, 1, -1 do
    local last = first_of_queue('ZREVRANGE', QUEUE, host, classes[place_])
    local held = some_unripe and first_of_queue('ZREVRANGE', HELD, host, classes[place_], true)
    if held and (not last or comes_before(last, held)) then
      last = held
    end
    if last then
      return last
    end
  end
end

-- ---------------------------------------------------------------- what the indexes name of a host

-- As HEADS has it: arrivals, and the class of each. ``late`` is the class of LATE that has the host, or may have it.
local function heads_of(host)
  local text = call('HGET', HEADS, host)
  local heads = {
    text = text,
    open = { NOBODY, ACTIVE },
    top = { NOBODY, ACTIVE },
    worst = { NOBODY, ACTIVE },
    late = some_unripe and ACTIVE or nil,
  }
  if text then
    local has_classes = #text > 18
    for place_, name in ipairs({ 'open', 'top', 'worst' }) do
      local class = has_classes and tonumber(string.sub(text, 18 + place_, 18 + place_), 16) or ACTIVE
      heads[name] = { string.sub(text, 6 * place_ - 5, 6 * place_), class }
    end
    if has_classes then
      heads.late = tonumber(string.sub(text, 22, 22), 16)
    end
  end
  return heads
end

local function write_heads(host, heads)
  local text = heads.open[1] .. heads.top[1] .. heads.worst[1]
  if text == NOBODY .. NOBODY .. NOBODY then
    if heads.text then
      call('HDEL', HEADS, host)
    end
    return
  end
  local late = heads.late and digit_of(heads.late) or '-'
  local classes = digit_of(heads.open[2]) .. digit_of(heads.top[2]) .. digit_of(heads.worst[2]) .. late
  if classes ~= '4444' and classes ~= '444-' then
    text = text .. classes
  end
  if text ~= heads.text then
    call('HSET', HEADS, host, text)
  end
end

local function remove(key, class, member)
  use(class, -call('ZREM', of_class(key, class), member))
end

local function add(key, class, member, rank)
  use(class, call('ZADD', of_class(key, class), exact(rank), member))
end

-- Let an index name a URL of the host, in a class; nil: not this host. ``name`` is that of the index in ``heads``.
local function index(key, host, heads, name, arrival, class, rank)
  local old = heads[name]
  if old[1] ~= NOBODY and (old[1] ~= arrival or old[2] ~= class) then
    remove(key, old[2], old[1] .. host)
  end
  if arrival then
    add(key, class, arrival .. host, rank)
  end
  heads[name] = { arrival or NOBODY, arrival and class or ACTIVE }
end

local function index_open(host, heads, url)
  index(OPEN, host, heads, 'open', url and url.arrival, url and class_on(host, url.class), url and url.rank)
end

-- A rank as TOPS has it.
local function rank_in_tops(text)
  local rank = tonumber(text)
  return rank > LEAST and rank or -math.huge
end

-- Let LATE have the host in this class, or in none (nil).
local function index_late(host, heads, class, rank)
  if heads.late and heads.late ~= class then
    remove(LATE, heads.late, host)
  end
  if class then
    add(LATE, class, host, rank)
  end
  heads.late = class
end

-- Let TOPS and LATE tell of the URLs of a host: its first, and its first that may be taken. The rank in TOPS.
local function index_tops(host, heads, first, ready)
  local class = ready and class_on(host, ready.class) or host_class(host)
  local is_late = first and (first ~= ready or class ~= first.class)
  index_late(host, heads, is_late and first.class or nil, is_late and first.rank)
  local rank = first and (ready and math.max(ready.rank, LEAST) or ALL_HELD)
  index(TOPS, host, heads, 'top', first and (ready or first).arrival, class, rank)
  return rank
end

-- Let DORMANT say when a URL of the host may be taken, politeness aside, if none may now. rank: as in TOPS; nil: no URL.
local function watch_dormancy(host, rank, class, old_class)
  local wakes = rank and block_of(host)
  if rank == ALL_HELD then
    wakes = math.max(wakes or 0, tonumber(call('ZRANGE', UNRIPE .. host, 0, 0, 'WITHSCORES')[2]))
  end
  if some_dormant and (not wakes or class ~= old_class) then
    call('ZREM', of_class(DORMANT, old_class), host)
    if old_class == ACTIVE then
      call('ZREM', DORMANT_RANKS, host)
    end
  end
  if wakes then
    call('ZADD', of_class(DORMANT, class), exact(wakes), host)
    if class == ACTIVE then
      call('ZADD', DORMANT_RANKS, exact(rank), host)
    end
    some_dormant = true
  end
end

-- When a host of which nothing is being fetched opens; nil: at no time. ``ready`` is its first URL that may be taken.
local function opens_at(host, ready)
  if ready then
    return allowed_from(host)
  end
  local ripe = some_unripe and call('ZRANGE', UNRIPE .. host, 0, 0, 'WITHSCORES')[2]
  return ripe and math.max(allowed_from(host), tonumber(ripe)) or nil
end

-- Let the host enter the state it belongs to. ``stays``: neither its clock nor its lease changed, so an open host stays open.
local function place(host, stays)
  local heads = heads_of(host)
  local was_open, old_class = heads.open[1] ~= NOBODY, heads.top[2]
  local first, ready = firsts_of(host)
  local top_rank = index_tops(host, heads, first, ready)
  if meta.worst == 1 then
    local last = last_uncommitted(host) or {}
    index(WORST, host, heads, 'worst', last.arrival, last.class, last.rank)
  end
  local opens
  if first and not in_process(host) then
    if some_committed then
      ready = available(host)
    end
    opens = opens_at(host, ready)
  end
  if ready and opens and (opens == -math.huge or (stays and was_open)) then
    index_open(host, heads, ready)
    call('ZREM', RESTING, host)
  else
    index_open(host, heads, nil)
    if opens then
      call('ZADD', RESTING, exact(opens), host)
    else
      call('ZREM', RESTING, host)
    end
  end
  if some_unripe or some_blocked or some_dormant then
    watch_dormancy(host, top_rank, heads.top[2], old_class)
  end
  write_heads(host, heads)
end

-- Hosts whose queues have changed in this step, and nothing else of them: they are placed together, each once.
local changed_hosts, changed = {}, {}

local function place_later(host)
  if not changed[host] then
    changed[host] = true
    changed_hosts[#changed_hosts + 1] = host
  end
end

local function place_changed()
  local hosts = changed_hosts
  changed_hosts, changed = {}, {}
  for _, host in ipairs(hosts) do
    place(host, true)
  end
end

-- A URL joined the host's queue: most are neither its best nor its worst, and change nothing else.
local function place_newcomer(host, arrival, class)
  local queue = of_host(QUEUE, host, class)
  local changes = changed[host]
    or some_unripe
    or some_committed
    or some_blocked
    or call('ZRANGE', queue, 0, 0)[1] == arrival
    or (meta.worst == 1 and call('ZRANGE', queue, -1, -1)[1] == arrival)
  if changes then
    place_later(host)
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

-- The time of a URL has come: it may be taken.
local function let_go(host, arrival)
  for _, class in ipairs(url_classes_of(host)) do
    local rank = call('ZSCORE', of_host(HELD, host, class), arrival)
    if rank then
      call('ZADD', of_host(QUEUE, host, class), rank, arrival)
      call('ZREM', of_host(HELD, host, class), arrival)
      return
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
    for _, key in ipairs(of_classes(DORMANT)) do
      call('ZREMRANGEBYSCORE', key, '-inf', exact(now))
    end
  end
  if some_unripe then
    for _, host in ipairs(call('ZRANGEBYSCORE', RIPENING, '-inf', exact(now))) do
      for _, arrival in ipairs(call('ZRANGEBYSCORE', UNRIPE .. host, '-inf', exact(now))) do
        let_go(host, arrival)
      end
      call('ZREMRANGEBYSCORE', UNRIPE .. host, '-inf', exact(now))
      watch_ripening(host)
      place(host, true)
    end
  end
  for _, host in ipairs(call('ZRANGEBYSCORE', RESTING, '-inf', exact(now))) do
    local url = available(host)
    call('ZREM', RESTING, host)
    if url then
      local heads = heads_of(host)
      index_open(host, heads, url)
      write_heads(host, heads)
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
  local heads = heads_of(host)
  index_open(host, heads, nil)
  write_heads(host, heads)
  if is_ours(holder) then
    call('SADD', PARKED .. place_of(host), host) -- until the visit to its address ends
  else
    call('ZADD', RESTING, exact(now + BUSY_LOOK), host)
  end
  return false
end
