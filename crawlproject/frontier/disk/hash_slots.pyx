# cython: language_level=3, wraparound=False
"""Looking into the segments of a ``HashTable`` by compiled code."""

from cpython cimport array
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
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


def find(list views not None, array.array directory not None, uint64_t mask, bytes digest not None):
    """The number of a digest of 16 bytes, or None."""
    cdef const unsigned char* data = digest
    cdef uint64_t key = word(data), tag = word(data + 8) & TAG, value
    cdef Py_buffer view
    PyObject_GetBuffer(views[directory.data.as_ints[(key >> 36) & mask]], &view, PyBUF_SIMPLE)
    try:
        value = (<const uint64_t*>view.buf)[slot_of(<const uint64_t*>view.buf, key, tag) + 1]
    finally:
        PyBuffer_Release(&view)
    return <long long>(value & NUMBER) - 1 if value else None


def put_all(
    list views not None, array.array directory not None, uint64_t mask, array.array counts not None, int full, numbers
):
    """Set the numbers of digests, from an iterator of pairs.

    None: of all. Else the pair that was not set, as its segment is full, or nobody has counted it.
    """
    for digest, number in numbers:
        if not put(views, directory, mask, counts, full, digest, number):
            return digest, number
    return None


cdef bint put(
    list views, array.array directory, uint64_t mask, array.array counts, int full, bytes digest, uint64_t number
) except -1:
    """False: nothing is set."""
    cdef const unsigned char* data = digest
    cdef uint64_t key = word(data), tag = word(data + 8) & TAG
    cdef int segment = directory.data.as_ints[(key >> 36) & mask]
    cdef short* count = counts.data.as_shorts + segment
    cdef uint64_t* words
    cdef Py_ssize_t slot
    cdef Py_buffer view
    PyObject_GetBuffer(views[segment], &view, PyBUF_WRITABLE)
    try:
        words = <uint64_t*>view.buf
        slot = slot_of(words, key, tag)
        if not words[slot + 1]:
            if count[0] < 0 or count[0] >= full:
                return False
            words[slot] = key
            atomic_signal_fence(memory_order_release)  # the number makes the slot valid: it is written last
            count[0] += 1
        words[slot + 1] = tag << NUMBER_BITS | (number + 1)
    finally:
        PyBuffer_Release(&view)
    return True
