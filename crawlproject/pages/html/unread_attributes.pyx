# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False
"""Removes the attributes of a page that no reader uses: they are a third of the work of libxml2.

This module handles only markup that all HTML tokenizers read alike: plain tags, comments, declarations, and raw text that ends
with its end tag. From the first other markup on, the page stays unchanged. The white space around a removed attribute stays, so
its neighbours stay separate.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memchr, memcpy

from crawlproject.pages.html.plain_markup cimport (
    Place,
    after_blanks,
    after_comment,
    after_declaration,
    is_end_tag,
    is_letter,
)

from crawlproject.pages.html.document import READ, READ_OF_ALL
from crawlproject.pages.html.document import LINKS

cdef enum:
    MOST = 64  # attributes of a tag that are left out
    LONGEST = 12  # letters of a name in a table
    SLOTS = 256  # of a table, many more than there are names

cdef enum:  # what is special about an element
    UNTOUCHED = 1
    LINK = 2
    EMPTY = 4
    TEXT = 8  # it contains text, which some parsers read as markup
    SCRIPT = 16  # it contains text
    SHEET = 32
    ENDLESS = 64

SPECIAL = {
    UNTOUCHED: ("body", "head", "html", "meta"),  # libxml2 merges them, or reads them itself
    LINK: LINKS,
    EMPTY: ("br", "hr", "img", "input", "link"),
    TEXT: ("iframe", "noembed", "noframes", "textarea", "title", "xmp"),
    SCRIPT: ("script", "style"),
    SHEET: ("style",),
    ENDLESS: ("plaintext",),
}

cdef struct Name:  # of an element, or of an attribute that is read
    unsigned char letters[LONGEST]
    Py_ssize_t length  # 0: the slot is empty, with all its fields
    unsigned int special
    unsigned int read  # bits of the attributes that are read: of an element, or of this one

cdef struct Attribute:
    Place start, end
    unsigned int name

cdef Name ELEMENTS[SLOTS]
cdef Name ATTRIBUTES[SLOTS]
cdef unsigned int CLASS, ID, OF_ALL
cdef unsigned int KEPT = 1  # the bit of any name with a colon: parsers split such names differently
cdef unsigned char IN_NAME[256]
cdef unsigned char IN_VALUE[256]  # bytes of a value without quotation marks


def without_unread(bytes markup not None, bint tag_paths):
    """``markup``, in UTF-8, without attributes that no ``Document`` needs, with or without ``tag_paths``."""
    cdef Cutter cutter = Cutter.__new__(Cutter)
    return cutter.cut(markup, len(markup), tag_paths)


@cython.final
cdef class Cutter:
    """One pass over a page."""

    cdef Place end
    cdef Place copied  # all before it was copied or left out
    cdef unsigned char* copy
    cdef Py_ssize_t size
    cdef bint tag_paths
    cdef bint styled  # the page has a style sheet, which may hide a class

    def __dealloc__(self):
        PyMem_Free(self.copy)

    cdef bytes cut(self, bytes markup, Py_ssize_t size, bint tag_paths):
        cdef Place at = markup
        self.copied, self.end, self.tag_paths = at, at + size, tag_paths
        self.copy = <unsigned char*>PyMem_Malloc(size + 1)
        if self.copy is NULL:
            raise MemoryError
        while at is not NULL:
            at = <Place>memchr(at, c"<", self.end - at)
            if at is not NULL:
                at = self.after(at)
        if self.copied == <Place>markup:
            return markup
        self.leave_out(self.end, self.end)
        return PyBytes_FromStringAndSize(<char*>self.copy, self.size)

    cdef void leave_out(self, Place start, Place end) noexcept:
        memcpy(self.copy + self.size, self.copied, start - self.copied)
        self.size += start - self.copied
        self.copied = end

    cdef Place after(self, Place at) noexcept:
        """After the tag, comment or declaration at ``at``; NULL if it is not plain."""
        if is_letter(at[1]):
            return self.after_start_tag(at + 1)
        if at[1] == c"/":
            return after_end_tag(at + 2)
        if at[1] == c"!" and at[2] == c"-" and at[3] == c"-":
            return after_comment(at + 4, self.end)
        return after_declaration(at, self.end)

    cdef Place after_start_tag(self, Place name) noexcept:
        """After the start tag with the ``name``, and after the text in it if that is raw."""
        cdef Attribute unread[MOST]
        cdef Place start, at = after_name(name)
        cdef Name* element = find(ELEMENTS, name, at - name)
        cdef Py_ssize_t length = at - name
        cdef unsigned int read = KEPT | OF_ALL | element.read
        cdef unsigned int attribute
        cdef int number, count = 0
        while True:
            start = after_blanks(at)
            if start[0] == c">" or (start[0] == c"/" and start[1] == c">"):
                break
            if start == at or not is_letter(start[0]):
                return NULL
            at = after_name(start)
            attribute = name_of(start, at)
            if at[0] == c"=":
                at = after_value(at + 1, self.end)
                if at is NULL:
                    return NULL
                if (at - 1)[0] == c"/":  # a tag that ends here may be an empty element
                    attribute = KEPT
            if not attribute & read & ~(CLASS | ID) and count < MOST:
                unread[count].start, unread[count].end, unread[count].name = start, at, attribute
                count += 1
        if element.special & ENDLESS or (element.special & (TEXT | SCRIPT) and start[0] == c"/"):
            return NULL
        at = start + 1 + (start[0] == c"/")
        if count and not element.special & UNTOUCHED:
            read = self.labels_read(element, at, name, length)
            for number in range(count):
                if not unread[number].name & read:
                    self.leave_out(unread[number].start, unread[number].end)
        self.styled |= element.special & SHEET
        return after_raw_text(element, at, self.end) if element.special & (TEXT | SCRIPT) else at

    cdef unsigned int labels_read(self, Name* element, Place at, Place name, Py_ssize_t length) noexcept:
        """``CLASS`` and ``ID``, if they are read for an element whose start tag ends at ``at``.

        Tag paths contain those of links and of elements that may contain links, but not of an element without a child element.
        """
        cdef unsigned int read = KEPT | (CLASS if self.styled else 0)
        if not self.tag_paths or element.special & EMPTY:
            return read
        if not element.special & LINK:
            at = <Place>memchr(at, c"<", self.end - at)
            if at is not NULL and is_end_tag(at, name, length):
                return read
        return read | CLASS | ID


cdef Place after_end_tag(Place name) noexcept:
    cdef Place at = name
    if is_letter(at[0]):
        at = after_blanks(after_name(at))
    if at == name or at[0] != c">":
        return NULL
    return at + 1


cdef Place after_raw_text(Name* element, Place at, Place end) noexcept:
    """At the end tag of the ``element`` whose start tag ends at ``at``.

    In a script, ``<!--`` and then ``<script`` may turn the next end tag into text.
    """
    cdef bint commented = False
    while True:
        at = <Place>memchr(at, c"<", end - at)
        if at is NULL:
            return NULL
        if at[1] == c"/" and equal(element, at + 2):
            return at if at[2 + element.length] == c">" else NULL
        if element.special & TEXT:
            return NULL
        commented |= at[1] == c"!"
        at += 1
        if commented and at[0] | 32 == c"s":
            return NULL


cdef inline Place after_name(Place at) noexcept:
    while IN_NAME[at[0]]:
        at += 1
    return at


cdef inline Place after_value(Place start, Place end) noexcept:
    cdef Place at = start
    if at[0] == c'"' or at[0] == c"'":
        at = <Place>memchr(at + 1, at[0], end - at - 1)
        if at is not NULL:
            at += 1
        return at
    while IN_VALUE[at[0]]:
        at += 1
    if at == start:
        return NULL
    return at


cdef inline unsigned int name_of(Place start, Place end) noexcept:
    """The bit of an attribute's name; 0 if no reader uses it."""
    cdef unsigned int name = find(ATTRIBUTES, start, end - start).read
    return KEPT if not name and memchr(start, c":", end - start) is not NULL else name


cdef inline Name* find(Name* table, Place name, Py_ssize_t length) noexcept:
    """The slot of ``name``, in any case, or an empty slot."""
    cdef unsigned int number = (name[0] | 32) * 5 + (name[length - 1] | 32) * 3 + <unsigned int>length
    cdef Name* slot = &table[number % SLOTS]
    while slot.length and not (slot.length == length and equal(slot, name)):
        number += 1
        slot = &table[number % SLOTS]
    return slot


cdef inline bint equal(const Name* name, Place at) noexcept:
    """Whether the text at ``at`` begins with ``name``, in any case."""
    cdef Py_ssize_t number
    for number in range(name.length):
        if at[number] | 32 != name.letters[number]:
            return False
    return True


cdef Name* put(Name* table, str text) except NULL:
    """Add ``text`` to the table, and return its slot."""
    cdef bytes letters = text.encode("ascii")
    if len(letters) > LONGEST:
        raise ValueError(f"{text}: longer than {LONGEST} letters")
    cdef Name* name = find(table, letters, len(letters))
    name.length = len(letters)
    memcpy(name.letters, <const char*>letters, name.length)
    return name


cdef int fill() except -1:
    """Fill the tables, once."""
    global CLASS, ID, OF_ALL
    for byte in range(33, 256):
        IN_NAME[byte] = chr(byte) in "-.:_0123456789" or is_letter(byte)
        IN_VALUE[byte] = chr(byte) not in "\"'<=>`\x7f"
    names = sorted(READ_OF_ALL.union(*READ.values()))
    for number, text in enumerate(names, 1):
        put(ATTRIBUTES, text).read = 1 << number
        OF_ALL |= 1 << number if text in READ_OF_ALL else 0
    CLASS, ID = 1 << (1 + names.index("class")), 1 << (1 + names.index("id"))
    for special, tags in SPECIAL.items():
        for tag in tags:
            put(ELEMENTS, tag).special |= special
    for tag, texts in READ.items():
        for text in texts:
            put(ELEMENTS, tag).read |= 1 << (1 + names.index(text))
    return 0


fill()
