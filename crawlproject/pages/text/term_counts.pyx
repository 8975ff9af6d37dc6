# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The functions of ``counting.py`` in compiled code, with one table of counts, which is all 0 between two calls."""

from cpython.mem cimport PyMem_Realloc
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np


cdef int32_t* table = NULL
cdef Py_ssize_t places = 0


def counted(const int32_t[::1] numbers):
    cdef Py_ssize_t size = numbers.shape[0], at, found = 0
    make_room(numbers)
    different = np.empty(size, np.int32)
    cdef int32_t[::1] first = different
    for at in range(size):
        if not table[numbers[at]]:
            first[found] = numbers[at]
            found += 1
        table[numbers[at]] += 1
    times = np.empty(found, np.int64)
    cdef int64_t[::1] counts = times
    for at in range(found):
        counts[at] = table[first[at]]
        table[first[at]] = 0
    return different[:found], times


def place_of(int number, const int32_t[::1] numbers):
    cdef Py_ssize_t at
    for at in range(numbers.shape[0]):
        if numbers[at] == number:
            return at
    return -1


def look_up(const int32_t[::1] numbers, const int32_t[::1] values):
    cdef Py_ssize_t at
    cdef int32_t least = 0
    looked_up = np.empty(numbers.shape[0], np.int32)
    cdef int32_t[::1] found = looked_up
    for at in range(numbers.shape[0]):
        found[at] = values[numbers[at]]
        least = min(least, found[at])
    return looked_up, least == 0


def count_up(double[::1] counts, const int32_t[::1] places):
    cdef Py_ssize_t at
    for at in range(places.shape[0]):
        counts[places[at]] += 1


def squared_norms(const int32_t[::1] numbers, list spans):
    """The sum of the squared counts in each of the ``spans``, pairs of positions. O(their lengths)."""
    cdef Py_ssize_t start, end, at
    cdef int64_t norm
    make_room(numbers)
    norms = []
    for start, end in spans:
        norm = 0
        for at in range(start, end):
            norm += 2 * table[numbers[at]] + 1
            table[numbers[at]] += 1
        for at in range(start, end):
            table[numbers[at]] = 0
        norms.append(norm)
    return norms


cdef int make_room(const int32_t[::1] numbers) except -1:
    """Make room for the largest of the numbers."""
    global table, places
    cdef Py_ssize_t at, most = -1, room
    for at in range(numbers.shape[0]):
        most = max(most, numbers[at])
    if most < places:
        return 0
    room = 2 * (most + 1)
    cdef int32_t* larger = <int32_t*>PyMem_Realloc(table, room * sizeof(int32_t))
    if larger is NULL:
        raise MemoryError
    memset(larger + places, 0, (room - places) * sizeof(int32_t))
    table, places = larger, room
    return 0
