# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Look-ups in the tables of ``KeyTable`` and ``TemplateText``, in compiled code."""

from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t

from crawlproject.pages.text.prefetch cimport fetch

cdef uint32_t TAG = 0xFFFFF000  # as a literal in an expression, Cython would take it for an object


cdef int fetch_all(list tables, list keys) except -1:
    """Prefetch the places of all keys: each is in another cache line."""
    cdef array.array table
    cdef uint64_t key
    for key in keys:
        table = tables[key >> 58]
        fetch(&(<uint64_t*>table.data.as_voidptr)[<uint32_t>key & (<uint64_t>len(table) - 1)])
    return 0


def find_all(list tables not None, list keys not None):
    """``sketch_store._find`` of each key, one after the other."""
    cdef array.array table
    cdef const uint64_t* words
    cdef uint64_t key, tag, mask, place
    cdef list found = []
    fetch_all(tables, keys)
    for key in keys:
        table, tag = tables[key >> 58], <uint32_t>key
        words = <const uint64_t*>table.data.as_voidptr
        mask = len(table) - 1
        place = tag & mask
        while words[place]:
            if words[place] >> 32 == tag:
                found.append(<uint32_t>words[place] - 1)
            place = (place + 1) & mask
    return found


def put_all(list tables not None, list taken not None, list keys not None, uint64_t number, Py_ssize_t most):
    """``sketch_store._put`` of each key, in tables that double when two thirds of their places are ``taken``."""
    cdef array.array table, larger
    cdef uint64_t* words
    cdef uint64_t key, tag, mask, place
    cdef Py_ssize_t same
    fetch_all(tables, keys)
    for key in keys:
        table, tag = tables[key >> 58], <uint32_t>key
        words = <uint64_t*>table.data.as_voidptr
        mask = len(table) - 1
        place = tag & mask
        same = 0
        while words[place]:
            same += words[place] >> 32 == tag
            place = (place + 1) & mask
        if same >= most:
            continue
        words[place] = tag << 32 | (number + 1)
        taken[key >> 58] += 1
        if 3 * <uint64_t>taken[key >> 58] > 2 * (mask + 1):
            larger = array.clone(table, 2 * len(table), zero=True)
            move(table, larger)
            tables[key >> 58] = larger


cdef int move(array.array table, array.array larger) except -1:
    """Copy all entries of a table into an empty one. The numbers of a tag keep their order."""
    cdef const uint64_t* words = <const uint64_t*>table.data.as_voidptr
    cdef uint64_t* into = <uint64_t*>larger.data.as_voidptr
    cdef uint64_t last = len(table) - 1, mask = len(larger) - 1, start = 0, at, held, place
    while words[start]:  # start at an empty place, where no run of entries is split
        start += 1
    for at in range(last + 1):
        held = words[(start + at) & last]
        if held:
            place = held >> 32 & mask
            while into[place]:
                place = (place + 1) & mask
            into[place] = held
    return 0


cdef inline uint64_t mixed(const unsigned char* minima, int bin, uint64_t host) noexcept:
    cdef uint64_t value = <uint64_t>bin << 16 | minima[2 * bin + 1] << 8 | minima[2 * bin]
    value = (value + host) * <uint64_t>0xFF51AFD7ED558CCD
    value = (value ^ value >> 33) * <uint64_t>0xC4CEB9FE1A85EC53
    return value ^ value >> 33


def count_minima(uint32_t[::1] table not None, const unsigned char[::1] minima not None, uint64_t host, uint32_t name):
    """``template_text._count``."""
    cdef uint32_t* slots = &table[0]
    cdef uint64_t mask = table.shape[0] - 1, value
    cdef uint64_t values[128]
    cdef uint32_t tag, held
    cdef int bin, bins = min(minima.shape[0] // 2, 128)
    for bin in range(bins):
        values[bin] = mixed(&minima[0], bin, host)
        fetch(&slots[values[bin] & mask])
    for bin in range(bins):
        value = values[bin]
        tag = <uint32_t>(value >> 32) & TAG
        held = slots[value & mask]
        if held and held & TAG == tag:
            if held >> 4 & 255 != name:
                slots[value & mask] = tag | name << 4 | min(held & 15, 14) + 1
        elif held & 15 > 1:
            slots[value & mask] = held - 1
        else:
            slots[value & mask] = tag | name << 4 | 1


cdef inline bint is_common(const uint32_t* slots, uint64_t mask, uint64_t value, uint32_t least) noexcept:
    cdef uint32_t held = slots[value & mask]
    return held & TAG == <uint32_t>(value >> 32) & TAG and held & 15 >= least


def same_minima(
    const uint32_t[::1] table not None, const unsigned char[::1] one not None, uint64_t host,
    const unsigned char[::1] other not None, uint64_t other_host, uint32_t least
):
    """``template_text._same``."""
    cdef const uint32_t* slots = &table[0]
    cdef uint64_t mask = table.shape[0] - 1
    cdef int bin, same = 0, left = 0
    for bin in range(one.shape[0] // 2):
        if is_common(slots, mask, mixed(&one[0], bin, host), least) and is_common(
            slots, mask, mixed(&other[0], bin, other_host), least
        ):
            continue
        left += 1
        same += one[2 * bin] == other[2 * bin] and one[2 * bin + 1] == other[2 * bin + 1]
    return same, left
