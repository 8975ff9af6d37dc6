-- Taking URLs, what is asked before and after, and the loop over the operations of a call.

-- Add to the answer what is told of a leased URL: as ``describe``, and the message that is attached to it, or ''.
local function describe_lease(arrival, rank, answer)
  describe(arrival, rank, answer)
  answer[#answer + 1] = attached_to(parts_of(arrival)) or ''
end

-- Whether a URL comes after the last of class and rank that are wanted, whatever the floor makes of its class.
local function is_beyond(url, class, rank)
  return url.class > class or (url.class == class and url.rank > rank)
end

-- now n last_class last_rank floor spare ceiling seed question asked_before picks -> {rank, time to come, class, record,
-- message, rank, ...}: leases up to n URLs, none after the last class and rank. The floors are ranks too. An answer that was
-- lost is given again.
function answer_of.take()
  local now, n, last_class, last_rank = time_argument(), number(), number(), number()
  set_limits(number(), number(), number())
  local seed, question = number(), argument()
  local asked_before, picks = argument() == '1', split(argument())
  local taken = {}
  call('ZADD', ALIVE, exact(now + LEASE), ME)
  if asked_before then
    local all = call('HGETALL', LEASES)
    for index_ = 1, #all, 2 do
      local rank, then_, worker = string.match(all[index_ + 1], '^([^\n]*)\n([^\n]*)\n(.*)$')
      if then_ == question and worker == WORKER then
        describe_lease(all[index_], rank, taken)
      end
    end
    if #taken > 0 then
      return taken
    end
  end
  reclaim_from_the_lost(now)
  pass_time(now)
  local leased = 0
  while leased < n do
    local leases = call('HLEN', LEASES)
    if MAX_PAGES > 0 and meta.pages + leases >= MAX_PAGES then
      break
    end
    local url = choose(now, picks, seed + 3 * leased)
    if not url or is_beyond(url, last_class, last_rank) then
      break
    end
    leave(url.host, url.arrival)
    call('HSET', LEASES, url.arrival, exact(url.rank) .. '\n' .. question .. '\n' .. WORKER)
    begin_visit(url.host)
    place(url.host)
    picks[#picks + 1] = url.host
    while #picks > K + leases do
      table.remove(picks, 1)
    end
    describe_lease(url.arrival, exact(url.rank), taken)
    leased = leased + 1
  end
  if #taken > 0 then
    call('HSET', PICKS, WORKER, exact(now) .. '\n' .. table.concat(picks, '\n'))
  end
  return taken
end

-- now floor spare ceiling seed picks -> when a take may succeed, or ''
function answer_of.due()
  local now = time_argument()
  set_limits(number(), number(), number())
  local seed, picks = number(), split(argument())
  reclaim_from_the_lost(now)
  pass_time(now)
  local due = next_due(now, picks, seed)
  return due and exact(due - shift) or ''
end

-- Class and rank of the first URL that waits, held or not and whatever the class of its host; and of the first that may be
-- taken, in the class of its host. {} where there is none.
local function firsts_of_all()
  local first, ready = {}, {}
  for class = 0, WASTE do
    if in_use(class) then
      local top = call('ZRANGEBYSCORE', of_class(TOPS, class), '(-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
      local late = not first[1] and call('ZRANGE', of_class(LATE, class), 0, 0, 'WITHSCORES')[2]
      top = top and rank_in_tops(top)
      if not first[1] and (top or late) then
        first = { class, math.min(top or math.huge, tonumber(late) or math.huge) }
      end
      if top then
        ready = { class, top }
        break
      end
    end
  end
  return first, ready
end

local function in_text(pair)
  return pair[1] and tostring(pair[1]) or '', pair[2] and exact(pair[2]) or ''
end

-- -> {waiting, leases, hosts, evicted, pages, seen, hosts up to class ACTIVE, class and rank of the first, of the first that
-- may be taken; or ''}
function answer_of.counts()
  local first, ready = firsts_of_all()
  local ruled = ruled_hosts(math.huge)
  local hosts = ruled
  for above = RULED + 1, WASTE do
    hosts = hosts + hosts_of(above)
  end
  local class, rank = in_text(first)
  return {
    waiting(), call('HLEN', LEASES), hosts, meta.evicted, meta.pages, meta.seen, ruled, class, rank, in_text(ready),
  }
end

-- In crawls of earlier versions held URLs are in the queues, too.
local function part_held_from_others()
  for _, host in ipairs(call('ZRANGE', RIPENING, 0, -1)) do
    for _, arrival in ipairs(call('ZRANGE', UNRIPE .. host, 0, -1)) do
      local rank = call('ZSCORE', of_host(QUEUE, host, ACTIVE), arrival)
      if rank then
        call('ZADD', of_host(HELD, host, ACTIVE), rank, arrival)
        call('ZREM', of_host(QUEUE, host, ACTIVE), arrival)
      end
    end
  end
  count('held', 1)
end

-- In crawls of earlier versions scores above all others stood for classes; see ``class_in_score`` in record_keys.py.
local function class_in_score(score)
  if score >= 8e18 then
    return 0, 0
  elseif score >= 2e18 then
    return 1, score / 2e18 - 1
  end
  return score >= 1e18 and 2 or 3, 0
end

local LEAST_CLASS_RANK = -2.5e17

local function part_classes_of(host)
  for _, key in ipairs({ QUEUE, HELD }) do
    local all = call('ZRANGEBYSCORE', of_host(key, host, ACTIVE), '(-inf', LEAST_CLASS_RANK, 'WITHSCORES')
    for index_ = 1, #all, 2 do
      local arrival = all[index_]
      local digest, _, time, blob = parts_of(arrival)
      local class, score = class_in_score(-tonumber(all[index_ + 1]))
      write_record(digest, host, arrival, tonumber(time) or 0, blob, class)
      change_class(host, arrival, ACTIVE, class)
      call('ZADD', of_host(key, host, class), exact(-score), arrival)
    end
  end
  place(host, true)
end

local function part_classes_from_scores()
  for _, member in ipairs(call('ZRANGEBYSCORE', TOPS, '(-inf', LEAST_CLASS_RANK)) do
    part_classes_of(string.sub(member, 7))
  end
  for _, host in ipairs(call('ZRANGEBYSCORE', LATE, '-inf', LEAST_CLASS_RANK)) do
    part_classes_of(host)
  end
  count('classed', 1)
end

-- Whether another worker of this crawl is alive.
local function has_company(now)
  for _, who in ipairs(call('ZRANGEBYSCORE', ALIVE, exact(now), '+inf')) do
    if who ~= ME and string.sub(who, 1, #ROOT + 1) == ROOT .. '\n' then
      return true
    end
  end
  return false
end

-- All hosts are of class ACTIVE. Those who gave them classes are gone, and whoever comes does it anew.
local function forget_host_classes()
  local all = next(uses) and call('HGETALL', CLASSES) or {}
  for index_ = 1, #all, 2 do
    if tonumber(string.sub(all[index_ + 1], 1, 1), 16) ~= ACTIVE then
      set_host_class(all[index_], ACTIVE)
      place(all[index_], true)
    end
  end
end

-- now -> time and hosts of the worker's last picks. The worker begins, under TOKEN; what it held before waits again.
function answer_of.begin()
  local now = time_argument()
  if meta.held == 0 then
    part_held_from_others()
  end
  reclaim(WORKER, now)
  if meta.classed == 0 then
    part_classes_from_scores()
  end
  if not has_company(now) then
    forget_host_classes()
  end
  call('ZADD', ALIVE, exact(now + LEASE), ME)
  if MAX_URLS > 0 and meta.worst == 0 then
    count('worst', 1)
    for _, key in ipairs(of_classes(TOPS)) do
      for _, member in ipairs(call('ZRANGE', key, 0, -1)) do
        place(string.sub(member, 7), true)
      end
    end
  end
  return call('HGET', PICKS, WORKER) or ''
end

-- number most message -> 1 it is new. ``most`` messages are kept, or a few more.
function answer_of.publish()
  local number_, most, message = number(), number(), argument()
  if number_ > 0 then
    if number_ <= tonumber(call('HGET', PUBLISHED, WORKER) or 0) then
      return 0
    end
    call('HSET', PUBLISHED, WORKER, exact(number_))
  end
  call('XADD', MESSAGES, 'MAXLEN', '~', exact(most), '*', WORKER, message)
  return 1
end

-- -> number of the last message that this worker numbered
function answer_of.published()
  return call('HGET', PUBLISHED, WORKER) or '0'
end

-- id most own -> {id of the last message, message, ...}: those after ``id``, at most so many, with those of this worker or
-- without
function answer_of.messages()
  local after, most, own = argument(), number(), argument() == '1'
  local found = { after }
  for _, entry in ipairs(call('XRANGE', MESSAGES, '(' .. after, '+', 'COUNT', exact(most))) do
    found[1] = entry[1]
    if own or entry[2][1] ~= WORKER then
      found[#found + 1] = entry[2][2]
    end
  end
  return found
end

-- now -> 0. The worker ends; what it still holds waits again.
answer_of['end'] = function()
  local now = time_argument()
  reclaim(WORKER, now)
  call('ZREM', ALIVE, ME)
  return 0
end

if ARGV[HEAD + 1] == 'begin' then
  call('HSET', WORKERS, WORKER, TOKEN)
elseif TOKEN ~= '' then
  local token = call('HGET', WORKERS, WORKER)
  if not token then
    return redis.error_reply('FORGOTTEN Redis has lost this crawl: it was cleared, or restarted without appendonly; what was fetched is in the crawl folder')
  elseif token ~= TOKEN then
    return redis.error_reply('FENCED another process uses the name of this worker; give each its own CRAWL_WORKER')
  end
end
-- What neither asks for the order of hosts nor changes it: before all others the hosts are placed.
local PLACED_LATER = { put = true, rescore = true, page = true, publish = true, attach = true }
local answers = {}
while at < #ARGV do
  local name = argument()
  if not PLACED_LATER[name] then
    place_changed()
  end
  answers[#answers + 1] = answer_of[name]()
end
place_changed()
save_meta()
return answers
