# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""``UrlWords.numbers`` in compiled code: it splits ASCII URLs itself, and calls Python for unknown terms."""

from cpython.dict cimport PyDict_GetItem
from cpython.unicode cimport PyUnicode_Substring
from libc.stdint cimport int32_t

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    const unsigned char* PyUnicode_1BYTE_DATA(object text)


def fill(int32_t[:, ::1] found, list urls, words, dict folders, dict known, dict numbers, number):
    """Fill in ``found``, (URLs, terms), which is all 0, with the numbers of the last terms of each URL.

    ``folders`` and ``known`` are the caches of ``words``, the ``UrlWords``; ``number`` assigns a number to a term that is not
    among ``numbers``.
    """
    cdef Py_ssize_t row, place, first, width = found.shape[1]
    cdef list terms
    cdef void* seen
    for row in range(len(urls)):
        terms = terms_of(urls[row], words, folders, known)
        first = max(0, len(terms) - width)
        for place in range(first, len(terms)):
            term = terms[place]
            seen = <void*>PyDict_GetItem(numbers, term)
            found[row, place - first] = <object>seen if seen is not NULL else number(term)


cdef list terms_of(str url, words, dict folders, dict known):
    """``UrlWords.all_of``."""
    if not PyUnicode_IS_ASCII(url):
        return words.all_of(url)
    cdef const unsigned char* data = PyUnicode_1BYTE_DATA(url)
    cdef Py_ssize_t size = len(url), at, start = size, slash = -1, word = -1
    for at in range(1, size):
        if data[at] == c"/" and data[at - 1] == c"/":
            start = at + 1
            break
    for at in range(start, size):
        if data[at] == c"%":
            return words.all_of(url)
        if data[at] == c"/":
            slash = at
    folder = PyUnicode_Substring(url, start, slash) if slash >= start else ""
    cdef void* seen = <void*>PyDict_GetItem(folders, folder)
    cdef list found = list(<object>seen if seen is not NULL else words.of_folder(folder))
    for at in range(max(start, slash + 1), size + 1):
        if at < size and c"a" <= (data[at] | 32) <= c"z":
            if word < 0:
                word = at
        elif word >= 0:
            text = PyUnicode_Substring(url, word, at).lower()
            seen = <void*>PyDict_GetItem(known, text)
            found.extend(<object>seen if seen is not NULL else words.of_word(text))
            word = -1
    return found
