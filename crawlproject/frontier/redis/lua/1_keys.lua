-- One call of this script is one atomic step of a frontier. All keys carry the hash tag of one slot.
--
-- KEYS   1 prefix of the crawl, 2 prefix of what all crawls of the server share
-- ARGV   the fifteen of HEAD, then operations: a name and its arguments each (see 6_operations.lua)
--
-- A host is a text, a URL its 16-byte digest, an arrival six bytes: the number of a waiting URL, big-endian, so that
-- members of equal score are in the order in which they came. rank is the negative score: least first. A class is a digit.

local call = redis.call
local ROOT, SHARED = KEYS[1], KEYS[2]
local HEAD = 15

local WORKER, TOKEN, SENT = ARGV[1], ARGV[2], ARGV[3]
local K, MAX_URLS, COMMIT = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local MAX_PER_HOST, MAX_PAGES, LEASE = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local MIN_DELAY, FACTOR, MARGIN = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local STRICT = ARGV[13] == '1' -- whether the crawl waits for the k rule while k hosts wait
local NEWCOMERS_STAY = ARGV[14] == '1' -- whether one replaces the worst whatever its own score (paper 001 Figure 1)
local HOSTS_ELSEWHERE = tonumber(ARGV[15]) -- hosts with waiting URLs in other slots

-- of the crawl
local META = ROOT .. ':meta' -- hash: arrivals, seen, buckets, evicted, pages, worst, held, classed, classes
local RECORDS = ROOT .. ':records' -- hash: arrival -> what parts_of takes apart; waiting and leased URLs
local LEASES = ROOT .. ':leases' -- hash: arrival -> rank, newline, question, newline, worker
local CLASSES = ROOT .. ':classes' -- hash: host -> its class, and the other classes than ACTIVE in which URLs of it wait
local HEADS = ROOT .. ':heads' -- hash: host -> its arrivals in OPEN, TOPS and WORST; unless all are ACTIVE, their classes and LATE's
local RESTING = ROOT .. ':resting' -- zset: host -> when it may be visited
local RIPENING = ROOT .. ':ripening' -- zset: host -> when its next URL with a time to come may go
local BLOCKED = ROOT .. ':blocked' -- zset: host -> end of its block
local DORMANT_RANKS = ROOT .. ':dormantranks' -- zset: hosts of DORMANT of class ACTIVE -> their ranks in TOPS
local COMMITTED = ROOT .. ':committed' -- zset: arrival -> position in the batch of Best-N-First
local ADMITTED = ROOT .. ':admitted' -- hash: host -> URLs that entered
local WORKERS = ROOT .. ':workers' -- hash: worker -> token of the process that uses this name
local PICKS = ROOT .. ':picks' -- hash: worker -> number and hosts of its last picks
local PARKED = ROOT .. ':parked:' -- set of a place: hosts that wait for the end of this crawl's visit there
local MESSAGES = ROOT .. ':messages' -- stream: what workers tell each other, worker -> message
local PUBLISHED = ROOT .. ':published' -- hash: worker -> number of the last message that it numbered
local ATTACHED = ROOT .. ':attached' -- hash: digest -> number, newline, message for whoever leases the URL
local PACE = ROOT .. ':pace' -- time of the next fetch of all workers, where their rate is limited
local GRANTS = ROOT .. ':grants' -- hash: worker -> its last question about the pace, newline, the answer
local SEEN = ROOT .. ':seen:' -- hashes: digest -> arrival; empty when the URL is done
local UNRIPE = ROOT .. ':unripe:' -- zset of a host: arrival -> time to come of those that are held

-- of each class of hosts, see ``of_class``
local OPEN = ROOT .. ':open' -- zset: arrival and host of the best URL of each host that may be visited
local TOPS = ROOT .. ':tops' -- zset: arrival and host of each host with waiting URLs -> rank of the best that is not held
local DORMANT = ROOT .. ':dormant' -- zset: host of which no URL may be taken yet (all held, or blocked) -> when one may

-- of each class of URLs, whatever the class of their host
local LATE = ROOT .. ':late' -- zset: host whose best URL is held, or waits in the class of the host -> rank of that URL
local WORST = ROOT .. ':worst' -- zset: as TOPS, of the worst; only while the frontier is bounded
local QUEUE = ROOT .. ':queue' -- zset of a host: arrival -> rank; those that wait and may be taken
local HELD = ROOT .. ':held' -- zset of a host: arrival -> rank; those with a time to come

-- of all crawls: one visitor at a time is all that a host sees of us
local CLOCK = SHARED .. ':clock' -- zset: host -> time of the next visit
local DELAY = SHARED .. ':delay' -- hash: host -> Crawl-delay, seconds
local BUSY = SHARED .. ':busy' -- hash: host -> who fetches from it; place of an address -> host that is fetched from there
local ADDRESS = SHARED .. ':address' -- hash: host -> place of its address: an at sign and the address. CLOCK has places, too
local ALIVE = SHARED .. ':alive' -- zset: worker of a crawl -> when its leases end unless it calls again

-- precedence classes, as in records.py
local FIRST, ACTIVE, SPARE, INACTIVE, WASTE = 2, 4, 5, 6, 11

local ME = ROOT .. '\n' .. WORKER
local NOBODY = '\0\0\0\0\0\0'
local ALL_HELD = -math.huge -- rank in TOPS of a host of which every URL is held
local LEAST = -1.7976931348623157e308 -- rank in TOPS of an infinite score
local BUSY_LOOK = 0.25 -- seconds until a host is looked at again that another crawl visits
local IDLE_LOOK = 64 -- resting hosts that are passed over as their class may not be taken, so that a look costs little
local CLOCK_SLACK = 600 -- seconds for which a clock is kept that has run out

local function exact(number)
  return string.format('%.17g', number)
end

-- Clients have clocks of their own. When one says what its clock shows (SENT), times travel as differences: what it
-- calls now is now here.
local shift = 0
if SENT ~= '' then
  local time = call('TIME')
  shift = time[1] + time[2] / 1000000 - tonumber(SENT)
end

-- META has numbers, and in ``classes`` what is in ``uses``.
local META_FIELDS = { 'arrivals', 'seen', 'buckets', 'evicted', 'pages', 'worst', 'held', 'classed' }
local meta, meta_changed = {}, false
local saved_meta = call('HMGET', META, 'classes', unpack(META_FIELDS))
for index, field in ipairs(META_FIELDS) do
  meta[field] = tonumber(saved_meta[index + 1] or 0)
end
if meta.buckets == 0 then
  meta.buckets = 1
end

-- A class is written as one digit, of 16.
local function digit_of(class)
  return string.format('%x', class)
end

-- Class other than ACTIVE -> entries of it in OPEN, TOPS, LATE, WORST and CLASSES. A crawl without such classes asks for none.
local uses = {}
for class, number in string.gmatch(saved_meta[1] or '', '(%x):(%d+)') do
  uses[tonumber(class, 16)] = tonumber(number)
end

local function count(field, change)
  meta[field] = meta[field] + change
  meta_changed = true
end

local function use(class, change)
  if class ~= ACTIVE and change ~= 0 then
    local number = (uses[class] or 0) + change
    uses[class] = number > 0 and number or nil
    meta_changed = true
  end
end

local function in_use(class)
  return class == ACTIVE or uses[class]
end

local function save_meta()
  if meta_changed then
    local pairs_, classes = {}, {}
    for _, field in ipairs(META_FIELDS) do
      pairs_[#pairs_ + 1] = field
      pairs_[#pairs_ + 1] = exact(meta[field])
    end
    for class = 0, WASTE do
      if uses[class] then
        classes[#classes + 1] = digit_of(class) .. ':' .. uses[class]
      end
    end
    call('HSET', META, 'classes', table.concat(classes, ' '), unpack(pairs_))
  end
end

-- The key of a class; that of ACTIVE is named as before there were classes.
local function of_class(key, class)
  return class == ACTIVE and key or key .. class
end

local function of_host(key, host, class)
  return of_class(key, class) .. ':' .. host
end

local function waiting()
  return call('HLEN', RECORDS) - call('HLEN', LEASES)
end
