# cython: language_level=3, wraparound=False
"""Looking into the segments of a ``HashTable`` by compiled code.

``places`` are the addresses of the segments. A segment is looked into at random: to ask a ``memoryview`` for its address would
touch two more places of the memory that are in no cache.
"""

from cpython cimport array
from libc.stdint cimport uint64_t

cdef extern from "<stdatomic.h>" nogil:
    int memory_order_release
    void atomic_signal_fence(int order)

cdef enum:
    SLOTS = 4096
    NUMBER_BITS = 40

cdef uint64_t NUMBER = (<uint64_t>1 << NUMBER_BITS) - 1
cdef uint64_t TAG = 0xFFFFFF


cdef inline uint64_t word(const unsigned char* data) noexcept nogil:
    """Eight bytes, the least first."""
    cdef uint64_t value = 0
    cdef int place
    for place in range(7, -1, -1):
        value = value << 8 | data[place]
    return value


cdef inline Py_ssize_t slot_of(const uint64_t* words, uint64_t key, uint64_t tag) noexcept nogil:
    """Where the key is in a segment, or the empty slot where it would be."""
    cdef Py_ssize_t slot = 2 * ((key >> 24) & (SLOTS - 1))
    while words[slot + 1]:
        if words[slot] == key and words[slot + 1] >> NUMBER_BITS == tag:
            break
        slot = (slot + 2) & (2 * SLOTS - 1)
    return slot


cdef inline uint64_t* segment_of(array.array places, array.array directory, uint64_t mask, uint64_t key) except NULL:
    """The words of the segment of a key. Raises ``IndexError`` where there is none: the table is closed, or was empty."""
    cdef int segment = directory.data.as_ints[(key >> 36) & mask]
    if not 0 <= segment < len(places):
        raise IndexError(segment)
    return <uint64_t*>places.data.as_ulonglongs[segment]


def find(array.array places not None, array.array directory not None, uint64_t mask, bytes digest not None):
    """The number of a digest of 16 bytes, or None."""
    cdef const unsigned char* data = digest
    cdef uint64_t key = word(data), tag = word(data + 8) & TAG, value
    cdef const uint64_t* words = segment_of(places, directory, mask, key)
    value = words[slot_of(words, key, tag) + 1]
    return <long long>(value & NUMBER) - 1 if value else None


def put_all(
    array.array places not None,
    array.array directory not None,
    uint64_t mask,
    array.array counts not None,
    int full,
    numbers,
):
    """Set the numbers of digests, from an iterator of pairs.

    None: of all. Else the pair that was not set, as its segment is full, or nobody has counted it.
    """
    for digest, number in numbers:
        if not put(places, directory, mask, counts, full, digest, number):
            return digest, number
    return None


cdef bint put(
    array.array places,
    array.array directory,
    uint64_t mask,
    array.array counts,
    int full,
    bytes digest,
    uint64_t number,
) except -1:
    """False: nothing is set."""
    cdef const unsigned char* data = digest
    cdef uint64_t key = word(data), tag = word(data + 8) & TAG
    cdef uint64_t* words = segment_of(places, directory, mask, key)
    cdef short* count = counts.data.as_shorts + directory.data.as_ints[(key >> 36) & mask]
    cdef Py_ssize_t slot = slot_of(words, key, tag)
    if not words[slot + 1]:
        if count[0] < 0 or count[0] >= full:
            return False
        words[slot] = key
        atomic_signal_fence(memory_order_release)  # the number makes the slot valid: it is written last
        count[0] += 1
    words[slot + 1] = tag << NUMBER_BITS | (number + 1)
    return True
