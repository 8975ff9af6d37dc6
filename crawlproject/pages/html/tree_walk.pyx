# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Reads a finished lxml tree for a ``DocumentBuilder``, in compiled code.

Elements, text, links and tag paths, which are many, are processed here as the builder, ``TextPieces``, ``AggregationNodes`` and
``TagPaths`` process them; only the results become Python objects. The builder's ``OPENERS`` and ``CLOSERS`` handle all else that
an element can mean.
"""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_AsUTF8, PyUnicode_DecodeUTF8
from libc.string cimport strcmp, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from crawlproject.pages.html cimport start_tags
from crawlproject.pages.html.tree_text cimport TreeText

from crawlproject.pages.html.document import RawLink
from crawlproject.pages.html.document_builder import CLOSERS, OPENERS
from crawlproject.pages.html.document import is_concealed
from crawlproject.pages.html.document import MAX_PATH, label
from crawlproject.pages.html.document import OUTERMOST
from crawlproject.pages.html.document import BREAKING

cetree.import_lxml__etree()

cdef enum:
    DEEPEST = 250  # libxml2 drops the rest of a tree at 256
    REMEMBERED = 256  # tags, a power of 2
MAX_DEPTH = DEEPEST
cdef int SHOWN = OUTERMOST  # depth of elements that conceal nothing

cdef enum:  # what to do for a tag
    BREAKS = 1
    OPENS = 2
    CLOSES = 4
    LINKS = 8
    FRAMES = 16  # it has ``src`` in place of ``href``
    IMAGES = 32

LINKING = {"a": LINKS, "area": LINKS | IMAGES, "frame": LINKS | FRAMES, "img": IMAGES}  # handled here, not by the builder

cdef struct Tag:
    const tree.xmlChar* name
    int duties

cdef struct Ranges:  # of a link, in characters of the text
    Py_ssize_t start, end, context_start, context_end
    Py_ssize_t next  # link with the same aggregation node, plus 1
    bint nofollow


def is_crowded(bytes markup not None):
    """Whether an element may have so many attributes that parsing ``markup`` takes disproportionate time."""
    cdef const unsigned char* start = markup
    return start_tags.is_crowded(start, start + len(markup))


def walk(cetree._Element root not None, builder):
    """Text and links of the document of ``root``; ``builder`` gets the rest. None if the tree may be incomplete."""
    cdef TreeWalk steps = TreeWalk(root, builder)
    return steps.read() if steps.run() else None


cdef class TreeWalk:
    """One walk. ``begins`` has the position of each open element in the text; the outermost is at index 1."""

    cdef cetree._Element root
    cdef object builder
    cdef TreeText text
    cdef Py_ssize_t depth, max_links, level, room
    cdef Py_ssize_t begins[DEEPEST + 1]
    cdef tree.xmlNode* nodes[DEEPEST + 1]
    cdef Py_ssize_t waiting[DEEPEST + 1]  # a link whose aggregation node this is, plus 1
    cdef Py_ssize_t labelled  # depth down to which ``paths`` is up to date
    cdef Py_ssize_t concealed_at  # depth of the outermost open element that is not shown
    cdef bint tag_paths
    cdef Ranges* ranges  # has room for ``room`` links
    cdef list hrefs, tag_paths_of, links, hidden, alts, paths
    cdef dict known
    cdef Tag tags[REMEMBERED]

    def __init__(self, cetree._Element root, builder):
        self.root, self.builder = root, builder
        self.hidden, self.max_links, self.tag_paths = builder.hidden, builder.max_links, builder.tag_paths
        self.text = builder.text = TreeText(self.hidden)
        self.level = -1 if builder.nodes.level is None else min(builder.nodes.level, DEEPEST)
        self.hrefs, self.tag_paths_of, self.links, self.alts, self.paths, self.known = [], [], [], [], [""], {}
        # All other fields are 0, also the names of the tags: Cython clears new objects.

    def __dealloc__(self):
        PyMem_Free(self.ranges)

    cdef tuple read(self):
        """The text, and the links as ``DocumentBuilder.read`` returns them."""
        cdef str text = self.text.since(0).rstrip()
        cdef Py_ssize_t number, most = min(len(text), self.builder.max_text)
        cdef Ranges* link
        links = []
        for number in range(len(self.hrefs)):
            link = &self.ranges[number]
            if self.level < 0:
                link.context_start, link.context_end = 0, most
            anchor = (min(link.start, most), min(link.end, most))
            context = (min(link.context_start, most), min(link.context_end, most))
            links.append(new_tuple(RawLink, (self.hrefs[number], anchor, context, link.nofollow, self.tag_paths_of[number])))
        self.builder.concealed = [(min(start, most), min(end, most)) for start, end in self.builder.concealed]
        return text, links

    cdef bint run(self) except -1:
        """Read the tree; return whether it is complete."""
        cdef tree.xmlNode* node = <tree.xmlNode*>self.root._c_node.doc.children
        cdef tree.xmlNode* other = node
        cdef int elements = 0
        while other is not NULL:
            elements += other.type == tree.XML_ELEMENT_NODE
            other = other.next
        if elements != 1:
            return False  # with several roots, the white space between them is not in the tree
        while node is not NULL:
            if node.type == tree.XML_ELEMENT_NODE:
                if self.depth == DEEPEST:
                    return False
                self.open(node)
                if node.children is not NULL:
                    node = node.children
                    continue
                self.close(node)
            elif node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE:
                if node.content is not NULL:
                    self.text.add(<const char*>node.content)
            while node.next is NULL:
                node = node.parent
                if node.type != tree.XML_ELEMENT_NODE:
                    return True
                self.close(node)
            node = node.next
        return True

    cdef int open(self, tree.xmlNode* node) except -1:
        cdef int duties = self.duties(node.name)
        cdef tree.xmlAttr* alt
        if duties & BREAKS:
            self.text.end_line()
        self.depth += 1
        self.begins[self.depth] = self.text.length
        self.nodes[self.depth] = node
        if node.properties is not NULL and not self.concealed_at and self.depth > SHOWN and self.is_concealed(node):
            self.concealed_at = self.depth
        if duties & LINKS:
            self.open_link(node, "src" if duties & FRAMES else "href")
        if duties & IMAGES and self.links:
            alt = find(node.properties, "alt")
            if alt is not NULL:
                self.alts.append(value_of(alt))
        if duties & OPENS:
            OPENERS[unicode_of(node.name)](self.builder, attributes_of(self.root, node))
        return 0

    cdef int close(self, tree.xmlNode* node) except -1:
        cdef int duties = self.duties(node.name)
        cdef Py_ssize_t depth = self.depth, number = self.waiting[depth]
        if duties & LINKS:
            self.close_link()
        if duties & CLOSES:
            tag = unicode_of(node.name)
            CLOSERS[tag](self.builder, tag)
        if self.concealed_at == depth:
            if not self.hidden:
                self.builder.concealed.append((self.begins[depth], self.text.length))
            self.concealed_at = 0
        while number:
            self.ranges[number - 1].context_start = self.begins[depth]
            self.ranges[number - 1].context_end = self.text.length
            number = self.ranges[number - 1].next
        self.waiting[depth] = 0
        self.depth -= 1
        self.labelled = min(self.labelled, self.depth)
        if duties & BREAKS:
            self.text.end_line()
        return 0

    cdef int open_link(self, tree.xmlNode* node, const char* attribute) except -1:
        cdef tree.xmlAttr* href = find(node.properties, attribute)
        cdef tree.xmlAttr* rel
        cdef Py_ssize_t above, number = len(self.hrefs)
        cdef Ranges* link
        if href is NULL or self.hidden or number >= self.max_links:
            self.builder.dropped += href is not NULL and not self.hidden
            self.links.append(None)
            return 0
        link = self.new_ranges(number)
        link.start = link.end = self.text.length
        rel = find(node.properties, "rel")
        link.nofollow = rel is not NULL and "nofollow" in value_of(rel).lower().split()
        if self.level >= 0:
            above = max(1, self.depth - self.level)
            link.next, self.waiting[above] = self.waiting[above], number + 1
        self.hrefs.append(value_of(href))
        self.tag_paths_of.append(self.path() if self.tag_paths else "")
        self.links.append(number)
        self.alts.clear()
        return 0

    cdef int close_link(self) except -1:
        number = self.links.pop()
        if number is None:
            return 0
        cdef Ranges* link = &self.ranges[<Py_ssize_t>number]
        if self.alts:
            if not self.text.since(link.start).strip():
                self.text.append(" ".join(self.alts))
            self.alts.clear()
        link.end = self.text.length
        return 0

    cdef Ranges* new_ranges(self, Py_ssize_t number) except NULL:
        cdef Ranges* larger
        if number == self.room:
            larger = <Ranges*>PyMem_Realloc(self.ranges, (2 * self.room + 64) * sizeof(Ranges))
            if larger is NULL:
                raise MemoryError
            self.ranges, self.room = larger, 2 * self.room + 64
        return &self.ranges[number]

    cdef bint is_concealed(self, tree.xmlNode* node) except -1:
        cdef tree.xmlAttr* attributes = node.properties
        classes = self.builder.classes
        if find(attributes, "style") is NULL and find(attributes, "hidden") is NULL and not classes:
            return False
        return is_concealed(attributes_of(self.root, node), classes)

    cdef str path(self):
        """``TagPaths.path`` of the innermost open element."""
        cdef tree.xmlNode* node
        cdef tree.xmlAttr* identity
        cdef tree.xmlAttr* classes
        cdef str path = self.paths[self.labelled]
        del self.paths[self.labelled + 1 :]
        while self.labelled < self.depth:
            self.labelled += 1
            node = self.nodes[self.labelled]
            name = unicode_of(node.name)
            if node.properties is not NULL:
                identity, classes = find(node.properties, "id"), find(node.properties, "class")
                name = label(
                    name, "" if identity is NULL else value_of(identity), "" if classes is NULL else value_of(classes)
                )
            path = f"{path} {name}"
            if len(path) > MAX_PATH:
                path = path[len(path) - <Py_ssize_t>MAX_PATH :]
            self.paths.append(path)
        path = path.lstrip()
        return self.known.setdefault(path, path)

    cdef int duties(self, const tree.xmlChar* name) except -1:
        """``name`` is in the dictionary of the parser: the same name is at the same address."""
        cdef Tag* tag = &self.tags[(<size_t>name >> 3) & (REMEMBERED - 1)]
        if tag.name != name:
            text = unicode_of(name)
            tag.duties = LINKING.get(text, 0) or (OPENS if text in OPENERS else 0) | (CLOSES if text in CLOSERS else 0)
            tag.duties |= BREAKS if text in BREAKING else 0
            tag.name = name
        return tag.duties


cdef class Attributes:
    """The attributes of an element by name."""

    cdef tree.xmlAttr* first
    cdef object root  # keeps the tree alive

    def __contains__(self, str name not None):
        return find(self.first, PyUnicode_AsUTF8(name)) is not NULL

    def get(self, str name not None, default=None):
        cdef tree.xmlAttr* attribute = find(self.first, PyUnicode_AsUTF8(name))
        return default if attribute is NULL else value_of(attribute)


cdef inline Attributes attributes_of(object root, tree.xmlNode* node):
    attributes = <Attributes>Attributes.__new__(Attributes)
    attributes.first = node.properties
    attributes.root = root
    return attributes


cdef inline tree.xmlAttr* find(tree.xmlAttr* attribute, const char* name) noexcept:
    while attribute is not NULL and strcmp(<const char*>attribute.name, name):
        attribute = attribute.next
    return attribute


cdef inline str value_of(tree.xmlAttr* attribute):
    if attribute.children is NULL or attribute.children.content is NULL:
        return ""
    return unicode_of(attribute.children.content)


cdef inline str unicode_of(const tree.xmlChar* text):
    return PyUnicode_DecodeUTF8(<const char*>text, strlen(<const char*>text), NULL)


new_tuple = tuple.__new__
