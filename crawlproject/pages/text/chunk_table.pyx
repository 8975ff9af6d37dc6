# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""``tokenizer.ChunkTerms`` in compiled code: known chunks and their terms do not become Python objects."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from cpython.unicode cimport (
    Py_UNICODE_ISSPACE,
    PyUnicode_DATA,
    PyUnicode_GET_LENGTH,
    PyUnicode_KIND,
    PyUnicode_READ,
)
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from crawlproject.pages.text.prefetch cimport fetch

from sys import intern

import numpy as np

from crawlproject.pages.text.tokenizer import MAX_CHUNK, REMEMBERED, SEPARATORS
from crawlproject.pages.text.terms import Terms, Vocabulary

cdef enum:
    FIRST_PLACES = 4096  # a power of 2
    MOST_PROBES = 64  # the most chunks that share a place, as an attacker may intend: more are not remembered
    NO_TERM = -1
    FIRST_SEVERAL = -2  # this and lower numbers: places in ``several``
    AHEAD = 16  # chunks whose entries are prefetched before the first is looked up

cdef bint separates[128]
for number in range(128):
    separates[number] = number == 0 or SEPARATORS[number] == 32

ctypedef fused code:  # the code of a letter, in the width that the text uses
    uint8_t
    uint16_t
    uint32_t

cdef struct Entry:
    uint64_t low, high  # the chunk, one byte per letter; 0: the entry is empty
    int64_t found  # 0: the entry is empty; above 0: the number of its term, plus 1; NO_TERM; below: it has several terms

cdef struct Chunk:
    Entry entry
    Py_ssize_t start, size  # in the text
    bint is_other  # it cannot be in the table


cdef class Numbers:
    """The terms of a text that were read so far."""

    cdef int32_t* found
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        PyMem_Free(self.found)

    cdef inline int append(self, Py_ssize_t number) except -1:
        if self.size == self.room:
            self.grow()
        self.found[self.size] = number
        self.size += 1
        return 0

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = 2 * self.room + 1024
        cdef int32_t* larger = <int32_t*>PyMem_Realloc(self.found, room * sizeof(int32_t))
        if larger is NULL:
            raise MemoryError
        self.found, self.room = larger, room
        return 0

    cdef array(self):
        return np.frombuffer(PyBytes_FromStringAndSize(<char*>self.found, self.size * sizeof(int32_t)), np.int32)


cdef class ChunkTable:
    """Remembers chunks of at most 16 letters of Latin-1 in a hash table with open addressing, and the rest in ``others``.

    The cost of a look-up is that of its memory accesses, so each entry contains the chunk itself, and the number of its term in
    the ``vocabulary``.
    """

    cdef Entry* entries
    cdef Py_ssize_t places, used, most, longest
    cdef uint64_t seed  # a secret of this process
    cdef object analyze
    cdef object vocabulary
    cdef list several  # the numbers of the terms of each chunk that has several
    cdef dict others
    cdef Py_ssize_t readers  # calls of ``between`` under way: a call may need the terms of a part of its text

    def __cinit__(self, analyze, Py_ssize_t most=REMEMBERED):
        self.analyze, self.most, self.longest = analyze, most, MAX_CHUNK
        self.seed = <uint64_t>hash("chunk") * 2 + 1
        self.vocabulary, self.several, self.others = Vocabulary(), [], {}
        self.grow(FIRST_PLACES)

    def __dealloc__(self):
        PyMem_Free(self.entries)

    def __len__(self):
        return self.used + len(self.others)

    def between(self, str text not None, cuts, end_of_word):
        """As ``ChunkTerms.between``, with numbers in place of terms."""
        if not self.readers and len(self.vocabulary.terms) >= self.most:
            self.forget()
            self.vocabulary, self.several = Vocabulary(), []  # texts with numbers of the old vocabulary keep that
        self.readers += 1
        try:
            return self.read_all(text, sorted(cuts), end_of_word)
        finally:
            self.readers -= 1

    cdef tuple read_all(self, str text, list cuts, end_of_word):
        cdef Numbers numbers = Numbers()
        cdef dict before = {}
        cdef Py_ssize_t done = 0, cut, end, size = PyUnicode_GET_LENGTH(text)
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        for cut in cuts:
            if cut > done and not is_blank(kind, data, done, cut):
                if cut == size or is_blank(kind, data, cut - 1, cut) or is_blank(kind, data, cut, cut + 1):
                    end = cut
                else:
                    end = end_of_word(text, done, cut)
                self.read(numbers, text, done, end)
                done = end
            before[cut] = numbers.size
        self.read(numbers, text, done, size)
        return Terms(numbers.array(), self.vocabulary), before

    cdef int read(self, Numbers numbers, str text, Py_ssize_t at, Py_ssize_t end) except -1:
        """Append the terms of the chunks in this range of the text.

        The entries are far apart in memory, so those of the next chunks are prefetched while one is looked up.
        """
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        if kind == 1:
            return self.read_letters(numbers, text, <const uint8_t*>data, at, end)
        if kind == 2:
            return self.read_letters(numbers, text, <const uint16_t*>data, at, end)
        return self.read_letters(numbers, text, <const uint32_t*>data, at, end)

    cdef int read_letters(self, Numbers numbers, str text, const code* data, Py_ssize_t at, Py_ssize_t end) except -1:
        cdef Chunk chunks[AHEAD]
        cdef Py_ssize_t size, number, ready
        cdef Py_UCS4 letter
        cdef Entry chunk
        cdef bint is_wide
        while at < end:
            ready = 0
            while at < end and ready < AHEAD:
                size, is_wide = 0, False
                chunk.low = chunk.high = chunk.found = 0
                while at + size < end:
                    letter = data[at + size]
                    if is_separator(letter):
                        break
                    is_wide |= <uint64_t>letter > 255
                    if size < 8:
                        chunk.low |= <uint64_t>letter << 8 * size
                    elif size < 16:
                        chunk.high |= <uint64_t>letter << 8 * (size - 8)
                    size += 1
                if size:
                    if not is_wide and size <= 16:
                        fetch(&self.entries[self.place(chunk)])
                    chunks[ready] = Chunk(chunk, at, size, is_wide or size > 16)
                    ready += 1
                at += size + 1
            for number in range(ready):
                self.look_up(numbers, text, &chunks[number])
        return 0

    cdef int look_up(self, Numbers numbers, str text, Chunk* chunk) except -1:
        """Append the terms of a chunk."""
        cdef Entry* known
        cdef int64_t found
        if chunk.is_other:
            found = self.find_other(text[chunk.start : chunk.start + chunk.size])
        else:
            known = self.find(chunk.entry)
            if known is NULL or not known.found:
                found = self.analysed(text[chunk.start : chunk.start + chunk.size])
                self.remember(chunk.entry, found)
            else:
                found = known.found
        if found > 0:
            numbers.append(found - 1)
        elif found <= FIRST_SEVERAL:
            for number in <tuple>self.several[FIRST_SEVERAL - found]:
                numbers.append(number)
        return 0

    cdef int64_t analysed(self, str chunk) except? 0:
        cdef tuple terms = tuple([self.vocabulary.number(intern(term)) for term in self.analyze(chunk)])
        if not terms:
            return NO_TERM
        if len(terms) == 1:
            return <int64_t>terms[0] + 1
        self.several.append(terms)
        return FIRST_SEVERAL - (len(self.several) - 1)

    cdef int64_t find_other(self, str chunk) except? 0:
        found = self.others.get(chunk)
        if found is None:
            found = self.analysed(chunk)
            if PyUnicode_GET_LENGTH(chunk) <= self.longest:
                self.make_room()
                self.others[chunk] = found
        return found

    cdef int remember(self, Entry chunk, int64_t found) except -1:
        self.make_room()
        cdef Entry* entry = self.find(chunk)
        if entry is not NULL and not entry.found:
            chunk.found = found
            entry[0] = chunk
            self.used += 1
        return 0

    cdef Entry* find(self, Entry chunk) noexcept:
        """The entry of a chunk, or an empty one for it; NULL if there is neither."""
        cdef Py_ssize_t place = self.place(chunk)
        cdef Entry* entry
        for _ in range(MOST_PROBES):
            entry = &self.entries[place]
            if not entry.found or (entry.low == chunk.low and entry.high == chunk.high):
                return entry
            place = (place + 1) & (self.places - 1)
        return NULL

    cdef inline Py_ssize_t place(self, Entry chunk) noexcept:
        """The first place to look for its entry."""
        cdef uint64_t digest = (chunk.low ^ self.seed) * <uint64_t>0x9E3779B97F4A7C15
        digest = (digest ^ digest >> 32 ^ chunk.high) * <uint64_t>0xC2B2AE3D27D4EB4F
        return (digest ^ digest >> 32) & (self.places - 1)

    cdef int make_room(self) except -1:
        """Forget all chunks if there are too many. The terms of the current text keep their numbers."""
        if self.used + len(self.others) >= self.most:
            self.forget()
        elif 2 * self.used >= self.places:
            self.grow(2 * self.places)
        return 0

    cdef int forget(self) except -1:
        memset(self.entries, 0, self.places * sizeof(Entry))
        self.used = 0
        self.others = {}
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
            if old[place].found:
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
    return Py_UNICODE_ISSPACE(letter) or 0xD800 <= letter < 0xE000  # an unpaired surrogate: it becomes "?" in UTF-8


cdef inline bint is_blank(int kind, void* data, Py_ssize_t at, Py_ssize_t end) noexcept:
    while at < end and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, at)):
        at += 1
    return at == end
