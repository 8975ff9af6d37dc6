# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A finished lxml tree handed to a ``DocumentBuilder``: what its ``start``, ``data`` and ``end`` do, in compiled code.

Strings and attributes become Python objects only where a rule looks at them. What an element means is decided by the
``DocumentBuilder`` alone. Built by ``setup.py`` where a C compiler is present; ``parse`` works without it.
"""

from cpython.unicode cimport PyUnicode_AsUTF8, PyUnicode_DecodeUTF8
from libc.string cimport memchr, strcmp, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from crawlproject.pages.html.document_builder import CLOSERS, OPENERS
from crawlproject.pages.html.hidden_elements import is_concealed
from crawlproject.pages.html.tag_path import MAX_PATH as LONGEST_PATH
from crawlproject.pages.html.tag_path import label
from crawlproject.pages.html.tags import BREAKING

cetree.import_lxml__etree()

cdef Py_ssize_t MAX_PATH = LONGEST_PATH

cdef enum:
    DEEPEST = 250  # libxml2 drops the rest of a tree at 256
    MOST_ATTRIBUTES = 250  # of one element: libxml2 takes time proportional to the square
    CACHED = 256  # tags remembered, a power of 2
    BREAKS = 1
    OPENS = 2
    CLOSES = 4
    ANCHOR = 8  # <a>: opened and closed here


cdef struct Tag:
    const tree.xmlChar* name
    int duties


cdef inline tree.xmlAttr* find(tree.xmlAttr* attribute, const char* name) noexcept:
    while attribute is not NULL and strcmp(<const char*>attribute.name, name):
        attribute = attribute.next
    return attribute


cdef class Attributes:
    """The attributes of one element, by name; None is the value of an absent one."""

    cdef tree.xmlAttr* _first
    cdef object _root  # keeps the tree alive

    def __contains__(self, str name not None):
        return find(self._first, PyUnicode_AsUTF8(name)) is not NULL

    def __getitem__(self, str name not None):
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def get(self, str name not None, default=None):
        cdef tree.xmlAttr* attribute = find(self._first, PyUnicode_AsUTF8(name))
        if attribute is NULL:
            return default
        return value_of(attribute)


cdef inline str unicode_of(const tree.xmlChar* text):
    return PyUnicode_DecodeUTF8(<const char*>text, strlen(<const char*>text), NULL)


cdef inline str value_of(tree.xmlAttr* attribute):
    if attribute.children is NULL or attribute.children.content is NULL:
        return ""
    return unicode_of(attribute.children.content)


cdef inline Attributes attributes_of(object root, tree.xmlNode* node):
    attributes = <Attributes>Attributes.__new__(Attributes)
    attributes._first = node.properties
    attributes._root = root
    return attributes


cdef bint crowded(const unsigned char* at, const unsigned char* end) noexcept nogil:
    """Whether any start tag might have more than ``MOST_ATTRIBUTES`` attributes.

    Every ``<`` before a letter may begin one, in a script, a comment or an attribute, too. Those that overlap are read again, but
    not without end: where that takes longer than reading the input four times, the answer is yes.
    """
    cdef const unsigned char* here
    cdef Py_ssize_t left = 4 * (end - at) + 1000
    cdef int attributes
    cdef unsigned char quote
    while True:
        at = <const unsigned char*>memchr(at, c"<", end - at)
        if at is NULL:
            return False
        at += 1
        here = at
        if here == end or not (b"a" <= (here[0] | 32) <= b"z"):
            continue
        while here < end and not ends_name(here[0]):
            here += 1
        attributes = 0
        while here < end and here[0] != c">":
            if ends_name(here[0]):
                here += 1
                continue
            attributes += 1
            here += 1
            while here < end and not ends_name(here[0]) and here[0] != c"=":
                here += 1
            here = after_blanks(here, end)
            if here == end or here[0] != c"=":
                continue
            here = after_blanks(here + 1, end)
            if here < end and (here[0] == c'"' or here[0] == c"'"):
                quote = here[0]
                here = <const unsigned char*>memchr(here + 1, quote, end - here - 1)
                here = end if here is NULL else here + 1
            else:
                while here < end and here[0] != c">" and not is_blank(here[0]):
                    here += 1
        left -= here - at
        if attributes > MOST_ATTRIBUTES or left < 0:
            return True


cdef inline bint is_blank(unsigned char byte) noexcept nogil:
    return byte == 32 or (9 <= byte <= 13 and byte != 11)


cdef inline bint ends_name(unsigned char byte) noexcept nogil:
    return is_blank(byte) or byte == c">" or byte == c"/"


cdef inline const unsigned char* after_blanks(const unsigned char* at, const unsigned char* end) noexcept nogil:
    while at < end and is_blank(at[0]):
        at += 1
    return at


def is_crowded(bytes markup not None):
    """Whether a tree of ``markup`` might take libxml2 time out of proportion, for the attributes of one element."""
    cdef const unsigned char* start = markup
    return crowded(start, start + len(markup))


cdef int duties_of(Tag* known, const tree.xmlChar* name) except -1:
    """What there is to do for a tag. ``name`` is in the dictionary of the tree: equal names are one address."""
    cdef Tag* tag = &known[((<size_t>name) >> 3) & (CACHED - 1)]
    if tag.name != name:
        text = unicode_of(name)
        tag.duties = (
            (BREAKS if text in BREAKING else 0) | (OPENS if text in OPENERS else 0) | (CLOSES if text in CLOSERS else 0)
        )
        if text == "a":
            tag.duties = ANCHOR
        tag.name = name
    return tag.duties


cdef class TreeWalk:
    """One walk over the tree below ``root``. ``path`` is what ``TagPaths.path`` is to a parser target."""

    cdef object root
    cdef Py_ssize_t depth
    cdef tree.xmlNode* opened[DEEPEST + 1]
    cdef Py_ssize_t labelled  # so many of the open elements are in ``paths``
    cdef list paths
    cdef dict known

    def path(self):
        """The tag path of the innermost open element."""
        cdef tree.xmlNode* node
        cdef tree.xmlAttr* attribute
        cdef str path, name, identity, classes
        path = self.paths[self.labelled]
        while self.labelled < self.depth:
            self.labelled += 1
            node = self.opened[self.labelled]
            name = unicode_of(node.name)
            if node.properties is not NULL:
                identity = classes = ""
                attribute = node.properties
                while attribute is not NULL:
                    if not strcmp(<const char*>attribute.name, "id"):
                        identity = value_of(attribute)
                    elif not strcmp(<const char*>attribute.name, "class"):
                        classes = value_of(attribute)
                    attribute = attribute.next
                name = label(name, identity, classes)
            path = f"{path} {name}"
            if len(path) > MAX_PATH:
                path = path[len(path) - MAX_PATH:]
            self.paths[self.labelled] = path
        path = path.lstrip()
        return self.known.setdefault(path, path)


def walk(cetree._Element root not None, builder, Py_ssize_t max_depth):
    """Hand ``builder`` all elements and texts in document order. False when the tree is too deep to be whole."""
    cdef Tag known[CACHED]
    cdef Py_ssize_t begins[DEEPEST + 1]
    cdef Py_ssize_t depth = 0, shown_to = 0, synced = 0, concealed_from = 0
    cdef int duties
    cdef bint is_styled, has_class
    cdef tree.xmlAttr* attribute
    cdef tree.xmlNode* node = <tree.xmlNode*>(root._c_node.doc.children)
    cdef list pieces = builder.pieces
    cdef list starts = builder.nodes.starts
    cdef dict waiting = builder.nodes.waiting
    cdef dict openers = OPENERS, closers = CLOSERS
    cdef tree.xmlNode* other = node
    cdef bint tag_paths = builder.tag_paths
    cdef TreeWalk self = TreeWalk()
    self.root = root
    self.labelled = 0
    self.paths = [""] * (DEEPEST + 1)
    self.known = {}
    if tag_paths:
        builder.path = self.path
    cdef list hrefs = builder.hrefs, links = builder.open_links, hidden = builder.hidden, alts = builder.alts
    cdef list anchors = builder.nodes.anchors, contexts = builder.nodes.contexts
    cdef Py_ssize_t max_links = builder.max_links, above
    cdef Py_ssize_t level = -1 if builder.nodes.level is None else min(builder.nodes.level, DEEPEST)
    while other is not NULL:
        depth += other.type == tree.XML_ELEMENT_NODE
        other = other.next
    if depth != 1:
        return False  # the tree has lost the white space between them
    depth = 0
    for duties in range(CACHED):
        known[duties].name = NULL
    while node is not NULL:
        if node.type == tree.XML_ELEMENT_NODE:
            duties = duties_of(known, node.name)
            if duties & BREAKS:
                pieces.append("\n")
            depth += 1
            if depth > max_depth:
                builder.too_deep = True
                return True
            if depth > DEEPEST:
                return False
            begins[depth] = len(pieces)
            self.opened[depth] = node
            if node.properties is not NULL and not shown_to:
                is_styled = has_class = False
                attribute = node.properties
                while attribute is not NULL:
                    if attribute.name[0] == c"s" and not strcmp(<const char*>attribute.name, "style"):
                        is_styled = True
                    elif attribute.name[0] == c"h" and not strcmp(<const char*>attribute.name, "hidden"):
                        is_styled = True
                    elif attribute.name[0] == c"c" and not strcmp(<const char*>attribute.name, "class"):
                        has_class = True
                    attribute = attribute.next
                if (is_styled or (has_class and builder.classes)) and is_concealed(attributes_of(root, node), builder.classes):
                    shown_to, concealed_from = depth, len(pieces)
            if duties & ANCHOR:
                self.depth = depth
                number = None
                attribute = find(node.properties, "href")
                if attribute is NULL or hidden:
                    pass
                elif len(hrefs) < max_links:
                    nofollow = False
                    href = value_of(attribute)
                    attribute = find(node.properties, "rel")
                    if attribute is not NULL:
                        nofollow = "nofollow" in value_of(attribute).lower().split()
                    hrefs.append((href, nofollow, self.path() if tag_paths else ""))
                    number = len(contexts)
                    here = (len(pieces), len(pieces))
                    anchors.append(here)
                    contexts.append(here)
                    if level >= 0:
                        above = depth - level if depth > level else 1
                        if above in waiting:
                            (<list>waiting[above]).append(number)
                        else:
                            waiting[above] = [number]
                    alts.clear()
                else:
                    builder.dropped += 1
                links.append(number)
            elif duties & OPENS:
                while synced < depth:
                    synced += 1
                    starts.append(begins[synced])
                self.depth = depth
                openers[unicode_of(node.name)](builder, attributes_of(root, node))
            if node.children is not NULL:
                node = node.children
                continue
        elif node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE:
            if node.content is not NULL:
                pieces.append(unicode_of(node.content))
        while True:
            if node.type == tree.XML_ELEMENT_NODE:
                duties = duties_of(known, node.name)
                if duties & ANCHOR:
                    number = links.pop()
                    if number is not None:
                        if alts:
                            links.append(number)
                            builder.end_link("a")
                        else:
                            anchors[number] = ((<tuple>anchors[number])[0], len(pieces))
                elif duties & CLOSES:
                    closers[unicode_of(node.name)](builder, unicode_of(node.name))
                if shown_to == depth:
                    builder.conceal(concealed_from)
                    shown_to = 0
                if waiting and depth in waiting:
                    here = (begins[depth], len(pieces))
                    for number in <list>waiting.pop(depth):
                        contexts[number] = here
                if synced == depth:
                    starts.pop()
                    synced -= 1
                depth -= 1
                if self.labelled > depth:
                    self.labelled = depth
                if duties & BREAKS:
                    pieces.append("\n")
            if node.next is not NULL:
                node = node.next
                break
            node = node.parent
            if node is NULL or node.type != tree.XML_ELEMENT_NODE:
                node = NULL
                break
    return True
