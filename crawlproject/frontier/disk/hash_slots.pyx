# cython: language_level=3, wraparound=False
"""Memtables, and look-ups in the segments of a ``HashTable``, in compiled code.

``places`` are the addresses of the segments. Segments are accessed at random: asking a ``memoryview`` for its address would cost
two more cache misses.
"""

from cpython cimport array
from libc.errno cimport ENOSPC, errno
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, strerror
from posix.types cimport off_t
from posix.unistd cimport pwrite

cdef extern from *:
    void __builtin_prefetch(const void* place) noexcept nogil

cdef enum:
    SLOTS = 4096
    SEGMENT = 16 * SLOTS  # bytes
    SLOTS_A_PAGE = 256
    NUMBER_BITS = 40
    FEWEST_BITS = 8  # of a memtable
    MOST_BITS = 28

cdef uint64_t NUMBER = (<uint64_t>1 << NUMBER_BITS) - 1
cdef uint64_t TAG = 0xFFFFFF


cdef inline uint64_t word(const unsigned char* data) noexcept nogil:
    """Eight bytes as a number, in little-endian order."""
    cdef uint64_t value = 0
    cdef int place
    for place in range(7, -1, -1):
        value = value << 8 | data[place]
    return value


cdef inline Py_ssize_t probe(
    const uint64_t* words, Py_ssize_t slot, Py_ssize_t slots, uint64_t key, uint64_t tag
) noexcept nogil:
    """The slot of the key, or the empty slot where it would go, searched from ``slot`` on; times two, as a slot has two words."""
    slot *= 2
    while words[slot + 1]:
        if words[slot] == key and words[slot + 1] >> NUMBER_BITS == tag:
            break
        slot = (slot + 2) & (2 * slots - 1)
    return slot


cdef inline Py_ssize_t slot_of(const uint64_t* words, uint64_t key, uint64_t tag) noexcept nogil:
    """The slot of the key in a segment, or the empty slot where it would go."""
    return probe(words, (key >> 24) & (SLOTS - 1), SLOTS, key, tag)


cdef class Memtable:
    """Digests of 16 bytes to numbers, in memory: 24 to 48 bytes each.

    Its slots are in the order of segments, so that it can be merged segment by segment. It begins with room for ``like`` digests.
    """

    cdef uint64_t* words  # slots as in a segment
    cdef Py_ssize_t count
    cdef int bits  # 2^bits slots

    def __cinit__(self, Py_ssize_t like=0):
        self.bits = FEWEST_BITS
        while self._is_full(like):
            self.bits += 1
        self.words = self._room()

    def __dealloc__(self):
        free(self.words)

    def __len__(self):
        return self.count

    def update(self, dict numbers not None):
        """Set the numbers of digests. Raises ``MemoryError``."""
        cdef const unsigned char* data
        cdef bytes digest
        for digest, number in numbers.items():
            data = digest
            if self._is_full(self.count + 1):
                self._grow()
            self.put(word(data), (word(data + 8) & TAG) << NUMBER_BITS | (<uint64_t>number + 1))

    cdef inline uint64_t find(self, uint64_t key, uint64_t tag) noexcept:
        """The second word of the slot of a key; 0 if there is none."""
        return self.words[probe(self.words, self._home(key), <Py_ssize_t>1 << self.bits, key, tag) + 1]

    cdef inline void put(self, uint64_t key, uint64_t value) noexcept:
        cdef Py_ssize_t slots = <Py_ssize_t>1 << self.bits
        cdef Py_ssize_t slot = probe(self.words, self._home(key), slots, key, value >> NUMBER_BITS)
        if not self.words[slot + 1]:
            self.words[slot] = key
            self.count += 1
        self.words[slot + 1] = value

    cdef inline Py_ssize_t _home(self, uint64_t key) noexcept:
        """The bits of a key that select its segment, in reverse order. So the keys of a segment are neighbours, whatever the
        number of segments.
        """
        cdef uint64_t bits = key >> 36
        bits = (bits & 0x55555555) << 1 | bits >> 1 & 0x55555555
        bits = (bits & 0x33333333) << 2 | bits >> 2 & 0x33333333
        bits = (bits & 0x0F0F0F0F) << 4 | bits >> 4 & 0x0F0F0F0F
        bits = (bits & 0x00FF00FF) << 8 | bits >> 8 & 0x00FF00FF
        bits = (bits & 0x0000FFFF) << 16 | bits >> 16
        return bits >> (32 - self.bits)

    cdef inline bint _is_full(self, Py_ssize_t count) noexcept:
        return 3 * count > <Py_ssize_t>2 << self.bits

    cdef uint64_t* _room(self) except NULL:
        cdef uint64_t* words = NULL
        if self.bits <= MOST_BITS:
            words = <uint64_t*>calloc(<size_t>2 << self.bits, sizeof(uint64_t))
        if words is NULL:
            raise MemoryError()
        return words

    cdef int _grow(self) except -1:
        cdef uint64_t* old = self.words
        cdef Py_ssize_t slot, end = <Py_ssize_t>2 << self.bits
        self.bits += 1
        try:
            self.words = self._room()
        except MemoryError:
            self.bits -= 1
            raise
        self.count = 0
        for slot in range(0, end, 2):
            if old[slot + 1]:
                self.put(old[slot], old[slot + 1])
        free(old)


def find(tuple memtables not None, array.array places not None, array.array directory not None, bytes digest not None):
    """The number of a digest of 16 bytes in the first memtable that has it, or else in the table; or None.

    Raises ``IndexError`` if it has no segment, since the table is closed, or was empty.
    """
    cdef const unsigned char* data = digest
    cdef uint64_t key = word(data), tag = word(data + 8) & TAG, value
    cdef int segment = directory.data.as_ints[(key >> 36) & (len(directory) - 1)]
    if not 0 <= segment < len(places):
        raise IndexError(segment)
    cdef const uint64_t* words = <uint64_t*>places.data.as_ulonglongs[segment]
    # The processor fetches it from memory during the look-ups in the memtables.
    __builtin_prefetch(words + 2 * ((key >> 24) & (SLOTS - 1)))
    for memtable in memtables:
        value = (<Memtable?>memtable).find(key, tag)
        if value:
            return <long long>(value & NUMBER) - 1
    value = words[slot_of(words, key, tag) + 1]
    return <long long>(value & NUMBER) - 1 if value else None


def merge(
    int file,
    array.array places not None,
    array.array directory not None,
    array.array counts not None,
    int full,
    Memtable memtable not None,
    Py_ssize_t start,
):
    """Set the numbers of a memtable from a slot on. Return None at the end, or the slot reached and a key whose segment is full.

    Other threads run meanwhile: they may read the table and the memtable, but must change neither. Raises ``OSError``, and
    ``IndexError`` if a key has no segment.
    """
    cdef Py_ssize_t at = 0, slots = <Py_ssize_t>1 << memtable.bits, slot, segments = len(places)
    cdef const uint64_t* new = memtable.words
    cdef const int* segment_of = directory.data.as_ints
    cdef const uint64_t* addresses = <uint64_t*>places.data.as_ulonglongs
    cdef uint64_t mask = len(directory) - 1, key = 0, value
    cdef short* count
    cdef int segment = -1
    cdef bint is_full = False, is_lost = False
    cdef Copy copy
    copy.words = <uint64_t*>malloc(SEGMENT)
    copy.file, copy.segment, copy.changed, copy.error = file, -1, 0, 0
    if copy.words is NULL:
        raise MemoryError()
    with nogil:
        for at in range(start, slots):
            key, value = new[2 * at], new[2 * at + 1]
            if not value:
                continue
            segment = segment_of[(key >> 36) & mask]
            if segment != copy.segment:
                store(&copy)
                is_lost = not 0 <= segment < segments
                if is_lost or copy.error:
                    break
                memcpy(copy.words, <const void*>addresses[segment], SEGMENT)
                copy.segment = segment
            count = counts.data.as_shorts + segment
            if count[0] < 0:
                count[0] = entries_of(copy.words)
            slot = slot_of(copy.words, key, value >> NUMBER_BITS)
            if not copy.words[slot + 1]:
                is_full = count[0] >= full
                if is_full:
                    break
                if slot // 2 < <Py_ssize_t>((key >> 24) & (SLOTS - 1)):
                    store(&copy)  # the slot wraps round the end: write the slots before it first
                copy.words[slot] = key
                count[0] += 1
            copy.words[slot + 1] = value
            copy.changed |= 1 << slot // (2 * SLOTS_A_PAGE)
        store(&copy)
        free(copy.words)
    if copy.error:
        raise OSError(copy.error, strerror(copy.error).decode())
    if is_lost:
        raise IndexError(segment)
    return (at, key) if is_full else None


def fill(int file, int segment, array.array places not None, int whole, int depth, uint64_t bit):
    """Fill a segment with those entries of ``whole`` whose keys have this bit at this depth; return their number.

    It keeps the interpreter lock: it takes a tenth of a millisecond, but getting the lock back may take some milliseconds.
    Raises ``OSError``.
    """
    cdef const uint64_t* words = <uint64_t*>places.data.as_ulonglongs[whole]
    cdef Py_ssize_t at, slot
    cdef short count = 0
    cdef Copy half
    half.words = <uint64_t*>calloc(SEGMENT, 1)
    half.file, half.segment, half.changed, half.error = file, segment, (1 << SLOTS // SLOTS_A_PAGE) - 1, 0
    if half.words is NULL:
        raise MemoryError()
    for at in range(0, 2 * SLOTS, 2):
        if words[at + 1] and words[at] >> (36 + depth) & 1 == bit:
            slot = slot_of(half.words, words[at], words[at + 1] >> NUMBER_BITS)
            half.words[slot], half.words[slot + 1] = words[at], words[at + 1]
            count += 1
    store(&half)
    free(half.words)
    if half.error:
        raise OSError(half.error, strerror(half.error).decode())
    return count


cdef struct Copy:
    uint64_t* words
    int file
    int segment
    int changed  # changed pages, as bits
    int error


cdef void store(Copy* copy) noexcept nogil:
    """Write the changed pages of a copy, in their order.

    It uses ``pwrite``: changing a mapped page costs a page fault, and an interrupt of all processors when it is forced onto the
    disk. No slot is on two pages, and a killed process writes a page either as a whole or not at all.
    """
    cdef int page = 0, end
    cdef Py_ssize_t done, size, wrote
    while copy.changed >> page and not copy.error:
        end = page
        while copy.changed >> end & 1:
            end += 1
        size, done = (end - page) * 16 * SLOTS_A_PAGE, 0
        while done < size and not copy.error:
            wrote = pwrite(
                copy.file,
                <const char*>copy.words + page * 16 * SLOTS_A_PAGE + done,
                size - done,
                <off_t>copy.segment * SEGMENT + page * 16 * SLOTS_A_PAGE + done,
            )
            if wrote <= 0:
                copy.error = errno if wrote else ENOSPC  # 0: nothing was taken, without a reason
            done += wrote
        page = end + 1
    copy.changed = 0


cdef short entries_of(const uint64_t* words) noexcept nogil:
    cdef short count = 0
    cdef Py_ssize_t slot
    for slot in range(SLOTS):
        count += words[2 * slot + 1] != 0
    return count
