-- The URL-seen test: digests in hashes so small that Redis keeps them as one block of bytes without pointers. Linear
-- hashing (Litwin 1980) keeps them small: whenever the mean goes over MEAN, one bucket is split in two.

local MEAN = 48 -- of the 128 entries up to which a hash is a block; the fullest have about twice as many

local function bucket_of(digest)
  local number = struct.unpack('>I4', digest)
  local level = 1
  while level * 2 <= meta.buckets do
    level = level * 2
  end
  local bucket = number % (level * 2)
  if bucket >= meta.buckets then
    bucket = number % level
  end
  return SEEN .. string.format('%d', bucket)
end

local function split_a_bucket()
  local level = 1
  while level * 2 <= meta.buckets do
    level = level * 2
  end
  local old = SEEN .. string.format('%d', meta.buckets - level)
  count('buckets', 1)
  local all = call('HGETALL', old)
  local new, moved, digests = nil, {}, {}
  for index = 1, #all, 2 do
    local place = bucket_of(all[index])
    if place ~= old then
      new = place
      moved[#moved + 1] = all[index]
      moved[#moved + 1] = all[index + 1]
      digests[#digests + 1] = all[index]
    end
  end
  if new then
    call('HSET', new, unpack(moved))
    call('HDEL', old, unpack(digests))
  end
end

-- false: never seen; '': done; else the arrival of a URL that waits or is leased
local function look_up(digest)
  return call('HGET', bucket_of(digest), digest)
end

local function remember(digest, arrival)
  if call('HSET', bucket_of(digest), digest, arrival) == 1 then
    count('seen', 1)
    if meta.seen > MEAN * meta.buckets then
      split_a_bucket()
    end
  end
end

local function forget(digest)
  count('seen', -call('HDEL', bucket_of(digest), digest))
end
