"""How many attributes the start tags of a page have, counted before libxml2 builds a tree of them."""

from libc.string cimport memchr

cdef enum:
    MOST_ATTRIBUTES = 250  # of one element: the time of libxml2 is proportional to the square


cdef inline bint is_crowded(const unsigned char* at, const unsigned char* end) noexcept nogil:
    """Whether a start tag in the UTF-8 from ``at`` to ``end`` might have more than ``MOST_ATTRIBUTES`` attributes.

    Every ``<`` before a letter may begin a start tag, in a script, a comment or an attribute, too. Tags that overlap are
    read again, up to a limit: after as many bytes as four times the input, the answer is yes.
    """
    cdef const unsigned char* here
    cdef Py_ssize_t left = 4 * (end - at) + 1000
    cdef int attributes
    while True:
        at = <const unsigned char*>memchr(at, c"<", end - at)
        if at is NULL:
            return False
        at += 1
        if at == end or not (c"a" <= (at[0] | 32) <= c"z"):
            continue
        here = at
        while here < end and not ends_name(here[0]):
            here += 1
        attributes = 0
        while here < end and here[0] != c">":
            if ends_name(here[0]):
                here += 1
                continue
            attributes += 1
            here = after_attribute(here, end)
        left -= here - at
        if attributes > MOST_ATTRIBUTES or left < 0:
            return True


cdef inline const unsigned char* after_attribute(const unsigned char* at, const unsigned char* end) noexcept nogil:
    """After the name at ``at`` and its value."""
    cdef unsigned char quote
    at += 1  # the first byte of a name may be any byte
    while at < end and not ends_name(at[0]) and at[0] != c"=":
        at += 1
    at = after_blanks(at, end)
    if at == end or at[0] != c"=":
        return at
    at = after_blanks(at + 1, end)
    if at < end and (at[0] == c'"' or at[0] == c"'"):
        quote = at[0]
        at = <const unsigned char*>memchr(at + 1, quote, end - at - 1)
        return end if at is NULL else at + 1
    while at < end and at[0] != c">" and not is_blank(at[0]):
        at += 1
    return at


cdef inline const unsigned char* after_blanks(const unsigned char* at, const unsigned char* end) noexcept nogil:
    while at < end and is_blank(at[0]):
        at += 1
    return at


cdef inline bint ends_name(unsigned char byte) noexcept nogil:
    return is_blank(byte) or byte == c">" or byte == c"/"


cdef inline bint is_blank(unsigned char byte) noexcept nogil:
    return byte == 32 or (9 <= byte <= 13 and byte != 11)
