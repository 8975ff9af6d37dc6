# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""``chunk_terms.ChunkTerms`` in compiled code: no chunk that is known becomes an object of its own."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport PyObject
from cpython.unicode cimport (
    Py_UNICODE_ISSPACE,
    PyUnicode_DATA,
    PyUnicode_GET_LENGTH,
    PyUnicode_KIND,
    PyUnicode_READ,
)
from libc.stdint cimport uint64_t
from libc.string cimport memset

from sys import intern

from crawlproject.pages.text.chunk_terms import MAX_CHUNK, REMEMBERED, SEPARATORS

cdef enum:
    FIRST_PLACES = 4096  # a power of 2
    MOST_PROBES = 64  # chunks that share a place, perhaps on purpose: more are not remembered

cdef bint separates[128]
for number in range(128):
    separates[number] = number == 0 or SEPARATORS[number] == 32

cdef struct Entry:
    uint64_t low, high  # the chunk, a byte a letter; 0: nothing is here
    PyObject* found  # its term; empty: it has none; a tuple: it has several


cdef class ChunkTable:
    """Remembers chunks of at most 16 letters of Latin-1 in a hash table with open addressing, and the rest in ``others``.

    What a look-up costs is the places of the memory that it goes to, so a chunk is inside its entry. ``kept`` holds what the
    entries point to.
    """

    cdef Entry* entries
    cdef Py_ssize_t places, used, most, longest
    cdef uint64_t seed  # a secret of this process
    cdef object analyze
    cdef list kept
    cdef dict others

    def __cinit__(self, analyze, Py_ssize_t most=REMEMBERED):
        self.analyze, self.most, self.longest = analyze, most, MAX_CHUNK
        self.seed = <uint64_t>hash("chunk") * 2 + 1
        self.kept, self.others = [], {}
        self.grow(FIRST_PLACES)

    def __dealloc__(self):
        PyMem_Free(self.entries)

    def __len__(self):
        return self.used + len(self.others)

    def between(self, str text not None, cuts, end_of_word):
        """As ``ChunkTerms.between``."""
        cdef list terms = []
        cdef dict before = {}
        cdef Py_ssize_t done = 0, cut, end, size = PyUnicode_GET_LENGTH(text)
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        for cut in sorted(cuts):
            if cut > done and not is_blank(kind, data, done, cut):
                if cut == size or is_blank(kind, data, cut - 1, cut) or is_blank(kind, data, cut, cut + 1):
                    end = cut
                else:
                    end = end_of_word(text, done, cut)
                self.append(terms, text, done, end)
                done = end
            before[cut] = len(terms)
        self.append(terms, text, done, size)
        return terms, before

    cdef int append(self, list terms, str text, Py_ssize_t at, Py_ssize_t end) except -1:
        """The terms of the chunks in this range of the text."""
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t size
        cdef Py_UCS4 letter
        cdef Entry chunk
        cdef Entry* known
        cdef bint is_wide
        while at < end:
            size, is_wide = 0, False
            chunk.low = chunk.high = 0
            while at + size < end:
                letter = PyUnicode_READ(kind, data, at + size)
                if is_separator(letter):
                    break
                is_wide |= <uint64_t>letter > 255
                if size < 8:
                    chunk.low |= <uint64_t>letter << 8 * size
                elif size < 16:
                    chunk.high |= <uint64_t>letter << 8 * (size - 8)
                size += 1
            if size:
                if is_wide or size > 16:
                    found = self.find_other(text[at : at + size])
                else:
                    known = self.find(chunk)
                    if known is NULL or known.found is NULL:
                        found = self.analysed(text[at : at + size])
                        self.remember(chunk, found)
                    else:
                        found = <object>known.found
                if type(found) is tuple:
                    terms.extend(found)
                elif PyUnicode_GET_LENGTH(found):
                    terms.append(found)
            at += size + 1
        return 0

    cdef object analysed(self, str chunk):
        cdef tuple terms = tuple(self.analyze(chunk))
        if len(terms) > 1:
            return tuple(map(intern, terms))
        return intern(terms[0]) if terms else ""

    cdef object find_other(self, str chunk):
        found = self.others.get(chunk)
        if found is None:
            found = self.analysed(chunk)
            if PyUnicode_GET_LENGTH(chunk) <= self.longest:
                self.make_room()
                self.others[chunk] = found
        return found

    cdef int remember(self, Entry chunk, found) except -1:
        self.make_room()
        cdef Entry* entry = self.find(chunk)
        if entry is not NULL and entry.found is NULL:
            chunk.found = <PyObject*>found
            entry[0] = chunk
            self.kept.append(found)
            self.used += 1
        return 0

    cdef Entry* find(self, Entry chunk) noexcept:
        """The entry of a chunk, or where it can be entered; NULL when there is no such place."""
        cdef uint64_t digest = (chunk.low ^ self.seed) * <uint64_t>0x9E3779B97F4A7C15
        digest = (digest ^ digest >> 32 ^ chunk.high) * <uint64_t>0xC2B2AE3D27D4EB4F
        cdef Py_ssize_t place = (digest ^ digest >> 32) & (self.places - 1)
        cdef Entry* entry
        for _ in range(MOST_PROBES):
            entry = &self.entries[place]
            if entry.found is NULL or (entry.low == chunk.low and entry.high == chunk.high):
                return entry
            place = (place + 1) & (self.places - 1)
        return NULL

    cdef int make_room(self) except -1:
        """Forget everything when there is too much."""
        if self.used + len(self.others) >= self.most:
            memset(self.entries, 0, self.places * sizeof(Entry))
            self.used = 0
            self.kept, self.others = [], {}
        elif 2 * self.used >= self.places:
            self.grow(2 * self.places)
        return 0

    cdef int grow(self, Py_ssize_t places) except -1:
        cdef Entry* old = self.entries
        cdef Entry* entry
        cdef Py_ssize_t place, before = self.places
        cdef Entry* larger = <Entry*>PyMem_Calloc(places, sizeof(Entry))
        if larger is NULL:
            raise MemoryError
        self.entries, self.places = larger, places
        for place in range(before):
            if old[place].found is not NULL:
                entry = self.find(old[place])
                if entry is NULL:
                    self.used -= 1
                else:
                    entry[0] = old[place]
        PyMem_Free(old)
        return 0


cdef inline bint is_separator(Py_UCS4 letter) noexcept:
    if letter < 128:
        return separates[letter]
    return Py_UNICODE_ISSPACE(letter) or 0xD800 <= letter < 0xE000  # half a pair: UTF-8 has "?" in its place


cdef inline bint is_blank(int kind, void* data, Py_ssize_t at, Py_ssize_t end) noexcept:
    while at < end and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, at)):
        at += 1
    return at == end
