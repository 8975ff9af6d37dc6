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
from libc.string cimport memcmp, memset

from sys import intern

from crawlproject.pages.text.chunk_terms import MAX_CHUNK, REMEMBERED, SEPARATORS

cdef enum:
    FIRST_PLACES = 4096  # a power of 2
    MOST_PROBES = 64  # chunks that share a place, perhaps on purpose: more are not remembered

cdef bint separates[128]
for number in range(128):
    separates[number] = number == 0 or SEPARATORS[number] == 32

cdef struct Entry:
    uint64_t hash
    PyObject* chunk  # NULL: nothing is here
    PyObject* found  # its term; empty: it has none; a tuple: it has several


cdef class ChunkTable:
    """Remembers chunks in a hash table with open addressing. ``kept`` holds what its entries point to."""

    cdef Entry* entries
    cdef Py_ssize_t places, used, most, longest
    cdef uint64_t seed  # a secret of this process
    cdef object analyze
    cdef list kept

    def __cinit__(self, analyze, Py_ssize_t most=REMEMBERED):
        self.analyze, self.most, self.longest = analyze, most, MAX_CHUNK
        self.seed = <uint64_t>hash("chunk") * 2 + 1
        self.kept = []
        self.grow(FIRST_PLACES)

    def __dealloc__(self):
        PyMem_Free(self.entries)

    def __len__(self):
        return self.used

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
        cdef Py_ssize_t start
        cdef uint64_t digest
        cdef Py_UCS4 letter
        cdef PyObject* found
        while at < end:
            start, digest = at, self.seed
            while at < end:
                letter = PyUnicode_READ(kind, data, at)
                if is_separator(letter):
                    break
                digest = (digest ^ <uint64_t>letter) * <uint64_t>0x9E3779B97F4A7C15
                digest ^= digest >> 29
                at += 1
            if at > start:
                found = self.find(kind, data, start, at - start, digest)
                terms_of = self.analysed(text[start:at], digest) if found is NULL else <object>found
                if type(terms_of) is tuple:
                    terms.extend(terms_of)
                elif PyUnicode_GET_LENGTH(terms_of):
                    terms.append(terms_of)
            at += 1
        return 0

    cdef PyObject* find(self, int kind, void* data, Py_ssize_t start, Py_ssize_t size, uint64_t digest) noexcept:
        cdef Py_ssize_t place = digest & (self.places - 1)
        cdef Entry* entry = &self.entries[place]
        while entry.chunk is not NULL:
            if entry.hash == digest and is_same(entry.chunk, kind, data, start, size):
                return entry.found
            place = (place + 1) & (self.places - 1)
            entry = &self.entries[place]
        return NULL

    cdef object analysed(self, str chunk, uint64_t digest):
        """What is found for a chunk that is not known, and will be from now on."""
        cdef tuple terms = tuple(self.analyze(chunk))
        if len(terms) > 1:
            found = tuple(map(intern, terms))
        else:  # a word that is its own stem is one string
            found = intern(terms[0]) if terms else ""
        if PyUnicode_GET_LENGTH(chunk) <= self.longest:
            if self.used >= self.most:
                self.used = 0
                memset(self.entries, 0, self.places * sizeof(Entry))
                self.kept = []
            elif 2 * self.used >= self.places:
                self.grow(2 * self.places)
            chunk = intern(chunk)
            if self.enter(Entry(digest, <PyObject*>chunk, <PyObject*>found)):
                self.kept.append((chunk, found))
        return found

    cdef bint enter(self, Entry entry) noexcept:
        cdef Py_ssize_t place = entry.hash & (self.places - 1)
        cdef int probes
        for probes in range(MOST_PROBES):
            if self.entries[place].chunk is NULL:
                self.entries[place] = entry
                self.used += 1
                return True
            place = (place + 1) & (self.places - 1)
        return False

    cdef int grow(self, Py_ssize_t places) except -1:
        cdef Entry* old = self.entries
        cdef Py_ssize_t place, before = self.places
        cdef Entry* larger = <Entry*>PyMem_Calloc(places, sizeof(Entry))
        if larger is NULL:
            raise MemoryError
        self.entries, self.places, self.used = larger, places, 0
        for place in range(before):
            if old[place].chunk is not NULL:
                self.enter(old[place])
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


cdef inline bint is_same(PyObject* chunk, int kind, void* data, Py_ssize_t start, Py_ssize_t size) noexcept:
    cdef int own = PyUnicode_KIND(<object>chunk)
    cdef void* letters = PyUnicode_DATA(<object>chunk)
    cdef Py_ssize_t place
    if PyUnicode_GET_LENGTH(<object>chunk) != size:
        return False
    if own == kind:
        return memcmp(letters, <char*>data + start * kind, size * kind) == 0
    for place in range(size):
        if PyUnicode_READ(own, letters, place) != PyUnicode_READ(kind, data, start + place):
            return False
    return True
