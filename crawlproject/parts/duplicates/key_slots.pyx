# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Looking into the tables of a ``KeyTable`` by compiled code."""

from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t


def find(array.array table not None, uint64_t tag):
    """The numbers of a tag."""
    cdef const uint64_t* words = <const uint64_t*>table.data.as_voidptr
    cdef uint64_t mask = len(table) - 1, place = tag & mask
    cdef list found = []
    while words[place]:
        if words[place] >> 32 == tag:
            found.append(<uint32_t>words[place] - 1)
        place = (place + 1) & mask
    return found


def put(array.array table not None, uint64_t tag, uint64_t number, Py_ssize_t most):
    """``key_table._put``."""
    cdef uint64_t* words = <uint64_t*>table.data.as_voidptr
    cdef uint64_t mask = len(table) - 1, place = tag & mask
    cdef Py_ssize_t same = 0
    while words[place]:
        same += words[place] >> 32 == tag
        place = (place + 1) & mask
    if same >= most:
        return False
    words[place] = tag << 32 | (number + 1)
    return True


def move(array.array table not None, array.array larger not None):
    """Enter all that a table holds into an empty one, with the numbers of a tag in their order."""
    cdef const uint64_t* words = <const uint64_t*>table.data.as_voidptr
    cdef uint64_t* into = <uint64_t*>larger.data.as_voidptr
    cdef uint64_t last = len(table) - 1, mask = len(larger) - 1, start = 0, at, held, place
    while words[start]:  # no run of places begins before an empty one
        start += 1
    for at in range(last + 1):
        held = words[(start + at) & last]
        if held:
            place = held >> 32 & mask
            while into[place]:
                place = (place + 1) & mask
            into[place] = held
