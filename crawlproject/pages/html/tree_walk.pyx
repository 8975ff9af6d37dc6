# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A finished lxml tree handed to a ``DocumentBuilder`` by compiled code.

Elements, links and tag paths, which are many, are followed here as the builder's ``start`` and ``end``, ``AggregationNodes``
and ``TagPaths`` follow them; Python objects are made only of what is kept. All else that an element can mean is decided by
the builder's ``OPENERS`` and ``CLOSERS``.
"""

from cpython.unicode cimport PyUnicode_AsUTF8, PyUnicode_DecodeUTF8
from libc.string cimport strcmp, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from crawlproject.pages.html cimport start_tags

from crawlproject.pages.html.document_builder import CLOSERS, OPENERS
from crawlproject.pages.html.hidden_elements import is_concealed
from crawlproject.pages.html.tag_path import MAX_PATH, label
from crawlproject.pages.html.tags import BREAKING

cetree.import_lxml__etree()

cdef enum:
    DEEPEST = 250  # libxml2 drops the rest of a tree at 256
    REMEMBERED = 256  # tags, a power of 2

MAX_DEPTH = DEEPEST

cdef enum:  # what there is to do for a tag
    BREAKS = 1
    OPENS = 2
    CLOSES = 4
    LINKS = 8  # <a>, which is not left to OPENERS

cdef struct Tag:
    const tree.xmlChar* name
    int duties


def is_crowded(bytes markup not None):
    """Whether the attributes of an element might make a tree of ``markup`` take time out of proportion."""
    cdef const unsigned char* start = markup
    return start_tags.is_crowded(start, start + len(markup))


def walk(cetree._Element root not None, builder):
    """Hand ``builder`` what the document of ``root`` has, in document order. False when the tree may not be whole."""
    cdef TreeWalk steps = TreeWalk(root, builder)
    if steps.tag_paths:
        builder.path = steps.path
    try:
        return steps.run()
    finally:
        builder.path = str  # a tree that lives as long as the builder would cost malloc twice the time


cdef class TreeWalk:
    """One walk. ``begins`` has the number of pieces of text before each open element, the outermost at 1."""

    cdef cetree._Element root
    cdef object builder
    cdef Py_ssize_t depth, max_links, level
    cdef Py_ssize_t begins[DEEPEST + 1]
    cdef tree.xmlNode* nodes[DEEPEST + 1]
    cdef Py_ssize_t synced  # depth down to which the ``starts`` of the builder's nodes are up to date
    cdef Py_ssize_t labelled  # depth down to which ``paths`` is
    cdef Py_ssize_t concealed_at  # depth of the outermost open element that is not shown
    cdef bint tag_paths
    cdef list pieces, starts, hrefs, links, hidden, alts, anchors, contexts, paths
    cdef dict waiting, openers, closers, known
    cdef Tag tags[REMEMBERED]

    def __init__(self, cetree._Element root, builder):
        nodes = builder.nodes
        self.root, self.builder = root, builder
        self.pieces, self.hidden, self.alts = builder.pieces, builder.hidden, builder.alts
        self.hrefs, self.links, self.max_links = builder.hrefs, builder.links, builder.max_links
        self.starts, self.waiting = nodes.starts, nodes.waiting
        self.anchors, self.contexts = nodes.anchors, nodes.contexts
        self.level = -1 if nodes.level is None else min(nodes.level, DEEPEST)
        self.openers, self.closers = OPENERS, CLOSERS
        self.tag_paths = builder.tag_paths
        self.paths, self.known = [""], {}
        # All else is 0, the names of the tags, too: Cython clears new objects.

    cdef bint run(self) except -1:
        cdef tree.xmlNode* node = <tree.xmlNode*>self.root._c_node.doc.children
        cdef tree.xmlNode* other = node
        cdef int elements = 0
        while other is not NULL:
            elements += other.type == tree.XML_ELEMENT_NODE
            other = other.next
        if elements != 1:
            return False  # white space between them is not in the tree
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
                    self.pieces.append(unicode_of(node.content))
            while node.next is NULL:
                node = node.parent
                if node.type != tree.XML_ELEMENT_NODE:
                    return True
                self.close(node)
            node = node.next
        return True

    cdef int open(self, tree.xmlNode* node) except -1:
        cdef int duties = self.duties(node.name)
        if duties & BREAKS:
            self.pieces.append("\n")
        self.depth += 1
        self.begins[self.depth] = len(self.pieces)
        self.nodes[self.depth] = node
        if node.properties is not NULL and not self.concealed_at and self.is_concealed(node):
            self.concealed_at = self.depth
        if duties & LINKS:
            self.open_link(node)
        elif duties & OPENS:
            while self.synced < self.depth:
                self.synced += 1
                self.starts.append(self.begins[self.synced])
            self.openers[unicode_of(node.name)](self.builder, attributes_of(self.root, node))
        return 0

    cdef int close(self, tree.xmlNode* node) except -1:
        cdef int duties = self.duties(node.name)
        cdef Py_ssize_t depth = self.depth
        if duties & LINKS:
            self.close_link()
        elif duties & CLOSES:
            tag = unicode_of(node.name)
            self.closers[tag](self.builder, tag)
        if self.concealed_at == depth:
            self.builder.conceal(self.begins[depth])
            self.concealed_at = 0
        if self.waiting and depth in self.waiting:
            context = (self.begins[depth], len(self.pieces))
            for number in <list>self.waiting.pop(depth):
                self.contexts[number] = context
        if self.synced == depth:
            self.starts.pop()
            self.synced -= 1
        self.depth -= 1
        self.labelled = min(self.labelled, self.depth)
        if duties & BREAKS:
            self.pieces.append("\n")
        return 0

    cdef int open_link(self, tree.xmlNode* node) except -1:
        cdef tree.xmlAttr* href = find(node.properties, "href")
        cdef tree.xmlAttr* rel
        cdef Py_ssize_t above
        number = None
        if href is NULL or self.hidden:
            pass
        elif len(self.hrefs) < self.max_links:
            rel = find(node.properties, "rel")
            nofollow = rel is not NULL and "nofollow" in value_of(rel).lower().split()
            self.hrefs.append((value_of(href), nofollow, self.path() if self.tag_paths else ""))
            number = len(self.contexts)
            here = (self.begins[self.depth], self.begins[self.depth])
            self.anchors.append(here)
            self.contexts.append(here)
            if self.level >= 0:
                above = max(1, self.depth - self.level)
                if above in self.waiting:
                    (<list>self.waiting[above]).append(number)
                else:
                    self.waiting[above] = [number]
            self.alts.clear()
        else:
            self.builder.dropped += 1
        self.links.append(number)
        return 0

    cdef int close_link(self) except -1:
        if self.alts:
            self.builder.end_link("a")
            return 0
        number = self.links.pop()
        if number is not None:
            self.anchors[number] = ((<tuple>self.anchors[number])[0], len(self.pieces))
        return 0

    cdef bint is_concealed(self, tree.xmlNode* node) except -1:
        cdef tree.xmlAttr* attributes = node.properties
        classes = self.builder.classes
        if find(attributes, "style") is NULL and find(attributes, "hidden") is NULL and not classes:
            return False
        return is_concealed(attributes_of(self.root, node), classes)

    def path(self):
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
            tag.duties = LINKS if text == "a" else (OPENS if text in OPENERS else 0) | (CLOSES if text in CLOSERS else 0)
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
