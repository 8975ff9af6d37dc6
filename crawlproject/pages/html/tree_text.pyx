# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Collects the text of a document from its tree: ``TextPieces`` in compiled code."""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.string cimport memcpy, strlen


cdef class TreeText:
    """Text kept in UTF-8. A position is a number of characters.

    White space at the beginning is left out, except in ``hidden`` elements, which are cut at the end.
    """

    def __cinit__(self, list hidden not None):
        self.hidden = hidden

    def __dealloc__(self):
        PyMem_Free(self.letters)

    def __len__(self):
        return self.length

    def since(self, Py_ssize_t start):
        cdef Py_ssize_t place = self.place(start)
        return PyUnicode_DecodeUTF8(self.letters + place, self.size - place, NULL)

    def cut(self, Py_ssize_t start):
        self.size, self.length = self.place(start), min(self.length, start)

    cdef int append(self, str text) except -1:
        cdef Py_ssize_t size
        cdef const char* letters
        if not self.length and not self.hidden:
            text = text.lstrip()
        letters = PyUnicode_AsUTF8AndSize(text, &size)
        return self.put(letters, size)

    cdef int add(self, const char* letters) except -1:
        if not self.length and not self.hidden:
            return self.append(PyUnicode_DecodeUTF8(letters, strlen(letters), NULL))
        return self.put(letters, strlen(letters))

    cdef int end_line(self) except -1:
        return self.put("\n", 1) if self.length or self.hidden else 0

    cdef int put(self, const char* letters, Py_ssize_t size) except -1:
        cdef Py_ssize_t at, length = 0
        if self.size + size > self.room:
            self.grow(self.size + size)
        memcpy(self.letters + self.size, letters, size)
        for at in range(size):
            length += begins_character(letters[at])
        self.size += size
        self.length += length
        return 0

    cdef int grow(self, Py_ssize_t wanted) except -1:
        cdef Py_ssize_t room = 2 * wanted + 8192
        cdef char* larger = <char*>PyMem_Realloc(self.letters, room)
        if larger is NULL:
            raise MemoryError
        self.letters, self.room = larger, room
        return 0

    cdef Py_ssize_t place(self, Py_ssize_t start) noexcept:
        """The byte at which the character at ``start`` begins."""
        cdef Py_ssize_t place = self.size, left = self.length - start
        if self.size == self.length:
            return min(start, self.size)
        while left > 0:
            place -= 1
            left -= begins_character(self.letters[place])
        return place


cdef inline bint begins_character(char byte) noexcept:
    return (byte & 0xC0) != 0x80
