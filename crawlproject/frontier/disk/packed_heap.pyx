# cython: language_level=3
"""``PlainEntryHeap`` in compiled code: ranks and numbers side by side in one block of memory."""

import sys

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.stdint cimport int64_t
from libc.stdlib cimport qsort

if sys.byteorder != "little":
    raise ImportError("entries are little-endian")

cdef enum:
    LEAST_ROOM = 8  # entries

cdef struct Packed:
    double rank
    int64_t number


cdef inline bint is_less(const Packed* a, const Packed* b) noexcept nogil:
    return a.rank < b.rank or (a.rank == b.rank and a.number < b.number)


cdef int compare(const void* a, const void* b) noexcept nogil:
    return is_less(<const Packed*>b, <const Packed*>a) - is_less(<const Packed*>a, <const Packed*>b)


cdef class PackedHeap:
    cdef Packed* heap
    cdef Py_ssize_t size, room

    def __init__(self, entries=()):
        for entry in entries:
            self.push(entry)

    def __dealloc__(self):
        PyMem_Free(self.heap)

    def __len__(self):
        return self.size

    def push(self, tuple entry not None):
        cdef Packed new
        cdef Py_ssize_t at = self.size, parent
        new.rank, new.number = entry
        if at == self.room:
            self.grow()
        self.size += 1
        while at:
            parent = (at - 1) >> 1
            if not is_less(&new, self.heap + parent):
                break
            self.heap[at] = self.heap[parent]
            at = parent
        self.heap[at] = new
        return self.size

    def first(self):
        return (self.heap.rank, self.heap.number) if self.size else None

    def pop(self):
        cdef Packed last
        cdef Py_ssize_t at = 0, child = 1
        if not self.size:
            raise IndexError("pop from an empty heap")
        self.size -= 1
        last = self.heap[self.size]
        while child < self.size:
            if child + 1 < self.size and is_less(self.heap + child + 1, self.heap + child):
                child += 1
            if not is_less(self.heap + child, &last):
                break
            self.heap[at] = self.heap[child]
            at, child = child, 2 * child + 1
        self.heap[at] = last

    def entries(self):
        cdef Py_ssize_t at
        return [(self.heap[at].rank, self.heap[at].number) for at in range(self.size)]

    def packed(self):
        qsort(self.heap, self.size, sizeof(Packed), compare)  # a sorted array is a heap
        return PyBytes_FromStringAndSize(<char*>self.heap, self.size * sizeof(Packed))

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = max(<Py_ssize_t>LEAST_ROOM, 2 * self.room)
        cdef Packed* heap = <Packed*>PyMem_Realloc(self.heap, room * sizeof(Packed))
        if heap is NULL:
            raise MemoryError()
        self.heap, self.room = heap, room
        return 0
