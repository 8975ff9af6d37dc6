-- Taking URLs, what is asked before and after, and the loop over the operations of a call.

-- Add to the answer what is told of a leased URL: as ``describe``, and the message that is attached to it, or ''.
local function describe_lease(arrival, rank, answer)
  describe(arrival, rank, answer)
  answer[#answer + 1] = attached_to(parts_of(arrival)) or ''
end

-- now n last floor spare seed question asked_before picks -> {rank, time to come, record, message, rank, ..., spare floor}:
-- leases up to n URLs of rank last at most. The floors are ranks too; the spare one is given back as it was lowered. An
-- answer that was lost is given again.
function answer_of.take()
  local now, n, last = time_argument(), number(), number()
  set_floors(number(), number())
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
      taken[#taken + 1] = exact(spare)
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
    local host, arrival, rank = choose(now, picks, seed + 3 * leased)
    if not host or rank > last then
      break
    end
    leave(host, arrival)
    call('HSET', LEASES, arrival, exact(rank) .. '\n' .. question .. '\n' .. WORKER)
    begin_visit(host)
    place(host)
    picks[#picks + 1] = host
    while #picks > K + leases do
      table.remove(picks, 1)
    end
    describe_lease(arrival, exact(rank), taken)
    leased = leased + 1
  end
  if #taken > 0 then
    call('HSET', PICKS, WORKER, exact(now) .. '\n' .. table.concat(picks, '\n'))
  end
  taken[#taken + 1] = exact(spare)
  return taken
end

-- now floor spare seed picks -> {when a take may succeed, or '', spare floor}
function answer_of.due()
  local now = time_argument()
  set_floors(number(), number())
  local seed, picks = number(), split(argument())
  reclaim_from_the_lost(now)
  pass_time(now)
  local due = next_due(now, picks, seed)
  return { due and exact(due - shift) or '', exact(spare) }
end

-- The rank of the best waiting URL, held or not, or nil.
local function best_rank()
  local top = call('ZRANGEBYSCORE', TOPS, '(-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  local late = call('ZRANGE', LATE, 0, 0, 'WITHSCORES')[2]
  if top and late then
    return math.min(rank_in_tops(top), tonumber(late))
  end
  return top and rank_in_tops(top) or late and tonumber(late)
end

-- -> {waiting, leases, hosts, evicted, pages, seen, rank of the best or ''}
function answer_of.counts()
  local best = best_rank()
  return {
    waiting(), call('HLEN', LEASES), call('ZCARD', TOPS), meta.evicted, meta.pages, meta.seen,
    best and exact(best) or '',
  }
end

-- In crawls of earlier versions held URLs are in the queues, too.
local function part_held_from_others()
  for _, host in ipairs(call('ZRANGE', RIPENING, 0, -1)) do
    for _, arrival in ipairs(call('ZRANGE', UNRIPE .. host, 0, -1)) do
      local rank = call('ZSCORE', QUEUE .. host, arrival)
      if rank then
        call('ZADD', HELD .. host, rank, arrival)
        call('ZREM', QUEUE .. host, arrival)
      end
    end
  end
  count('held', 1)
end

-- now -> time and hosts of the worker's last picks. The worker begins, under TOKEN; what it held before waits again.
function answer_of.begin()
  local now = time_argument()
  if meta.held == 0 then
    part_held_from_others()
  end
  reclaim(WORKER, now)
  call('ZADD', ALIVE, exact(now + LEASE), ME)
  if MAX_URLS > 0 and meta.worst == 0 then
    count('worst', 1)
    for _, member in ipairs(call('ZRANGE', TOPS, 0, -1)) do
      place(string.sub(member, 7), true)
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
    return redis.error_reply('FORGOTTEN the server has lost this crawl: was it cleared, or is appendonly off?')
  elseif token ~= TOKEN then
    return redis.error_reply('FENCED another process uses the name of this worker; give each its own CRAWL_WORKER')
  end
end
local answers = {}
while at < #ARGV do
  answers[#answers + 1] = answer_of[argument()]()
end
save_meta()
return answers
