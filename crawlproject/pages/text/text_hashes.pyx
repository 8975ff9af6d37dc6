# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The functions of ``plain_hashes.py`` in compiled code."""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from crawlproject.pages.text.prefetch cimport fetch

import numpy as np

from crawlproject.pages.text.plain_hashes import BASE, BIN_BITS, BINS, FACTORS, HASHED, MAX_BYTES, NUMBER, SHINGLE, SOURCES
from crawlproject.pages.text.terms import Terms

cdef uint64_t base = BASE, number = NUMBER
cdef Py_ssize_t max_bytes = MAX_BYTES, width = SHINGLE
cdef int bits = BIN_BITS
cdef const uint64_t[::1] factors = FACTORS
cdef const uint8_t[:, ::1] all_sources = SOURCES

cdef struct Term:
    uint64_t hash
    Py_ssize_t size  # in UTF-8
    bint is_number


cdef struct Hashed:  # ``plain_hashes.HASHED``
    uint64_t plain, folded
    int64_t size


def term_hashes(terms):
    plain, folded = np.empty((2, len(terms)), dtype=np.uint64)
    if isinstance(terms, Terms):
        if look_up(terms.numbers, terms.vocabulary.column(hashes_of_each), plain, folded) < max_bytes:
            return plain, folded
    cdef Py_ssize_t count = hash_terms(terms, plain, folded)
    return plain[:count], folded[:count]


def hashes_of_each(terms):
    found = np.empty(len(terms), dtype=HASHED)
    cdef Hashed[::1] places = found
    cdef Py_ssize_t at = 0
    cdef Term term
    for text in terms:
        term = hashed(text)
        places[at] = Hashed(term.hash, number if term.is_number else term.hash, term.size + 1)
        at += 1
    return found


def without_links(page, plain, folded):
    """The same arrays, with the remaining elements at the front."""
    cdef Py_ssize_t start, end, at, count = 0, kept = 0
    cdef uint64_t[::1] of_plain = plain, of_folded = folded
    cdef uint8_t[::1] outside = np.ones(len(page.terms), np.uint8)
    for link in page.links:
        start, end = link.anchor_span
        end = min(end, outside.shape[0])
        if 0 <= start < end:
            memset(&outside[start], 0, end - start)
    for at in range(outside.shape[0]):
        count += outside[at]
    if 2 * count < outside.shape[0]:
        return plain, folded
    for at in range(of_plain.shape[0]):
        of_plain[kept], of_folded[kept] = of_plain[at], of_folded[at]
        kept += outside[at]
    return plain[:kept], folded[:kept]


def shingle_hashes(const uint64_t[::1] terms):
    cdef Py_ssize_t terms_each = min(width, terms.shape[0]), at, place
    cdef uint64_t value
    found = np.empty(terms.shape[0] - terms_each + 1 if terms_each else 0, dtype=np.uint64)
    cdef uint64_t[::1] shingles = found
    for at in range(shingles.shape[0]):
        value = 0
        for place in range(terms_each):
            value += terms[at + place] * factors[place]
        value = (value ^ value >> 33) * <uint64_t>0xFF51AFD7ED558CCD
        value = (value ^ value >> 33) * <uint64_t>0xC4CEB9FE1A85EC53
        shingles[at] = value ^ value >> 33
    return found


def minima_of(const uint64_t[::1] hashes):
    minima = np.zeros(BINS, dtype=np.uint16)
    if not hashes.shape[0]:
        return minima, 0
    return minima, find_minima(hashes, np.zeros(2 << len(hashes).bit_length(), dtype=np.uint64), minima)


cdef Py_ssize_t find_minima(const uint64_t[::1] hashes, uint64_t[::1] seen, uint16_t[::1] minima):
    """How many different hashes there are. ``seen`` is all 0; its length is a power of 2 above the number of hashes."""
    cdef uint8_t filled[256]
    cdef uint64_t least[256]
    cdef uint64_t value
    cdef Py_ssize_t at, place, attempt, different = 0, zero = 0
    cdef uint8_t source, first = 255
    memset(filled, 0, sizeof(filled))
    for at in range(hashes.shape[0]):
        value = hashes[at]
        place = value >> (64 - bits)
        if not filled[place] or value < least[place]:
            filled[place], least[place], minima[place] = 1, value, <uint16_t>value
            first = min(first, place)
        if value:
            different += is_new(seen, value)
        else:
            zero = 1
    for place in range(minima.shape[0]):
        if filled[place]:
            continue
        minima[place] = minima[first]
        for attempt in range(all_sources.shape[0]):
            source = all_sources[attempt, place]
            if filled[source]:
                minima[place] = minima[source]
                break
    return different + zero


cdef inline bint is_new(uint64_t[::1] seen, uint64_t value) noexcept:
    """Add a hash, not 0, to the table ``seen``; return whether it is new there."""
    cdef uint64_t last = seen.shape[0] - 1, place = value & last
    while seen[place] and seen[place] != value:
        place = (place + 1) & last
    if seen[place]:
        return False
    seen[place] = value
    return True


def new_share(
    const uint64_t[::1] shingles, uint64_t sampled, uint64_t host, uint64_t[::1] found, uint32_t[::1] seen
):
    """``SeenShingles.new_share``; ``found`` has room for all shingles.

    The places are far apart in memory, so all are prefetched before the first is read.
    """
    cdef uint64_t places = seen.shape[0] - 1
    cdef Py_ssize_t at, count = 0, new = 0
    for at in range(shingles.shape[0]):
        if not (shingles[at] >> 40) & sampled:
            found[count] = shingles[at] ^ host
            fetch(&seen[found[count] & places])
            count += 1
    for at in range(count):
        new += seen[found[at] & places] != <uint32_t>(found[at] >> 32)
    for at in range(count):
        seen[found[at] & places] = <uint32_t>(found[at] >> 32)
    return <double>new / count if count else 1.0


cdef Py_ssize_t hash_terms(terms, uint64_t[::1] plain, uint64_t[::1] folded) except -1:
    """Hash the terms in the first ``max_bytes``; return their number."""
    cdef Py_ssize_t count = 0, end = -1  # where the term ends in the bytes of all terms, which one byte separates
    cdef Term term
    for text in terms:
        term = hashed(text)
        end += 1 + term.size
        if end > max_bytes or (end == max_bytes and count + 1 < plain.shape[0]):
            break
        plain[count] = term.hash
        folded[count] = number if term.is_number else term.hash
        count += 1
    return count


cdef int64_t look_up(const int32_t[::1] numbers, const Hashed[::1] known, uint64_t[::1] plain, uint64_t[::1] folded):
    """``Terms.each`` of the hashes that are ``known``; return the sum of the sizes."""
    cdef Py_ssize_t at
    cdef int64_t size = 0
    cdef const Hashed* found
    for at in range(numbers.shape[0]):
        found = &known[numbers[at]]
        plain[at], folded[at] = found.plain, found.folded
        size += found.size
    return size


cdef inline Term hashed(str text):
    """The polynomial hash of a term: the sum of its bytes in UTF-8, each times another power of the base."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Term term = Term(0, 0, False)
    cdef uint64_t power = 1
    cdef uint8_t letters[4]
    cdef Py_ssize_t at, place, size
    for at in range(PyUnicode_GET_LENGTH(text)):
        size = encode(PyUnicode_READ(kind, data, at), letters)
        if not at:
            term.is_number = c"0" <= letters[0] <= c"9"
        for place in range(size):
            term.hash += letters[place] * power
            power *= base
        term.size += size
    return term


cdef inline int encode(Py_UCS4 letter, uint8_t* into) noexcept:
    """Write a character in UTF-8; return its number of bytes."""
    cdef unsigned int code = letter
    if 0xD800 <= code < 0xE000:
        code = c"?"
    if code < 0x80:
        into[0] = code
        return 1
    if code < 0x800:
        into[0], into[1] = 0xC0 | code >> 6, 0x80 | code & 63
        return 2
    if code < 0x10000:
        into[0], into[1], into[2] = 0xE0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63
        return 3
    into[0], into[1] = 0xF0 | code >> 18, 0x80 | code >> 12 & 63
    into[2], into[3] = 0x80 | code >> 6 & 63, 0x80 | code & 63
    return 4
