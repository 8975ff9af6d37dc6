"""The parts of ``tree_text.pyx`` that ``tree_walk.pyx`` uses."""


cdef class TreeText:
    cdef char* letters
    cdef Py_ssize_t size, room  # bytes
    cdef Py_ssize_t length  # characters
    cdef list hidden

    cdef int append(self, str text) except -1
    cdef int add(self, const char* letters) except -1
    cdef int end_line(self) except -1
    cdef int put(self, const char* letters, Py_ssize_t size) except -1
    cdef int grow(self, Py_ssize_t wanted) except -1
    cdef Py_ssize_t place(self, Py_ssize_t start) noexcept
