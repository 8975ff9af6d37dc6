# cython: language_level=3, wraparound=False, initializedcheck=False
"""Reads and writes the mapped rows of a ``UrlTable`` in compiled code."""

import sys

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

if sys.byteorder != "little":
    raise ImportError("rows are little-endian")

cdef struct Row:
    double score
    uint64_t offset
    uint32_t host
    uint32_t standing  # the state, and above it the class

cdef struct NumberedRow:
    uint64_t number
    Row row

cdef enum:
    BITS = 16
    INSIDE = (1 << BITS) - 1
    STATE = 15


def matches(list maps not None, uint64_t number, double score, uint32_t standing):
    """Whether the URL is in this state and class, with this score."""
    cdef Py_buffer view
    PyObject_GetBuffer(maps[number >> BITS], &view, PyBUF_SIMPLE)
    cdef const Row* row = <const Row*>view.buf + (number & INSIDE)
    cdef bint found = row.standing == standing and row.score == score
    PyBuffer_Release(&view)
    return found


@cython.boundscheck(False)
def match_many(
    list maps not None, dict changed not None, const int64_t[:] numbers, const double[:] scores, uint64_t states,
    int64_t class_bits, uint8_t[:] found
):
    """Fill in ``found``: whether each URL is in one of the states (bits) with its score; True if ``changed`` has its row.

    ``class_bits``: the bits of its class in the state; negative: any class.
    """
    cdef Py_ssize_t at, pieces = len(maps), piece, mapped = -1
    cdef Py_buffer view
    cdef const Row* row
    try:
        for at in range(numbers.shape[0]):
            piece = numbers[at] >> BITS
            if not 0 <= piece < pieces:
                found[at] = True
                continue
            if piece != mapped:
                if mapped >= 0:
                    PyBuffer_Release(&view)
                    mapped = -1
                PyObject_GetBuffer(maps[piece], &view, PyBUF_SIMPLE)
                mapped = piece
            row = <const Row*>view.buf + (numbers[at] & INSIDE)
            found[at] = (
                states >> (row.standing & STATE) & 1
                and (class_bits < 0 or row.standing - (row.standing & STATE) == class_bits)
                and (scores is None or row.score == scores[at])
            )
            if not found[at]:
                found[at] = numbers[at] in changed
    finally:
        if mapped >= 0:
            PyBuffer_Release(&view)


def pack(dict changed not None):
    """The changed rows, each after its number."""
    cdef bytes packed = PyBytes_FromStringAndSize(NULL, len(changed) * sizeof(NumberedRow))
    cdef NumberedRow* at = <NumberedRow*>PyBytes_AS_STRING(packed)
    cdef tuple fields
    for number, row in changed.items():
        fields = <tuple>row
        at.number = number
        at.row.score, at.row.offset, at.row.host, at.row.standing = fields[0], fields[1], fields[2], fields[3]
        at += 1
    return packed


def store(list maps not None, bytes packed not None):
    """Write numbered rows to their places."""
    cdef const NumberedRow* changed = <const NumberedRow*>PyBytes_AS_STRING(packed)
    cdef Py_ssize_t at
    cdef Py_buffer view
    for at in range(PyBytes_GET_SIZE(packed) // <Py_ssize_t>sizeof(NumberedRow)):
        PyObject_GetBuffer(maps[changed[at].number >> BITS], &view, PyBUF_WRITABLE)
        memcpy(<Row*>view.buf + (changed[at].number & INSIDE), &changed[at].row, sizeof(Row))
        PyBuffer_Release(&view)
