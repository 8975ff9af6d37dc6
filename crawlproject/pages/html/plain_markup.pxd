"""Markup that all HTML tokenizers read alike. It contains no 0 byte, and is followed by one in memory."""

from libc.string cimport memchr, memcmp

ctypedef const unsigned char* Place


cdef inline Place after_comment(Place start, Place end) noexcept:
    """After the comment; NULL unless it ends with ``-->``. NULL also for ``--!>``, ``<!-->`` and ``<!--->``, on which parsers
    disagree.
    """
    cdef Place at = start
    while True:
        at = <Place>memchr(at, c">", end - at)
        if at is NULL or at < start + 2 or ends_with(at, b"--!"):
            return NULL
        at += 1
        if ends_with(at, b"-->"):
            return at


cdef inline Place after_declaration(Place start, Place end) noexcept:
    """After ``<!doctype ...>`` or ``<?xml ...>`` with quotation marks in pairs and without an internal subset."""
    cdef Place at = start + 2
    cdef int double_marks = 0, single_marks = 0
    if (start[1] != c"!" and start[1] != c"?") or not is_letter(at[0]):
        return NULL
    while at < end and at[0] != c">":
        if at[0] == c"<" or at[0] == c"[":
            return NULL
        double_marks ^= at[0] == c'"'
        single_marks ^= at[0] == c"'"
        at += 1
    if at == end or double_marks or single_marks:
        return NULL
    return at + 1


cdef inline bint is_end_tag(Place at, Place name, Py_ssize_t length) noexcept:
    """Whether ``</name>`` is at ``at``, in the same case."""
    cdef Py_ssize_t number
    if at[1] != c"/":
        return False
    for number in range(length):
        if at[2 + number] != name[number]:
            return False
    return at[2 + length] == c">"


cdef inline Place after_blanks(Place at) noexcept:
    while at[0] == c" " or at[0] == c"\n" or at[0] == c"\r" or at[0] == c"\t":
        at += 1
    return at


cdef inline bint is_letter(unsigned char byte) noexcept:
    return c"a" <= (byte | 32) <= c"z"


cdef inline bint ends_with(Place at, const char* three) noexcept:
    return not memcmp(at - 3, three, 3)
