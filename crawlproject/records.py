"""The frozen records that the parts of the crawler pass to each other.

``Topic`` is what a person asked for. A fetched document becomes a ``Page`` with ``Link`` s; a link that is worth
following becomes a ``CrawlUrl`` in the frontier; a finished fetch leaves a ``Visit`` in the history. Records carry facts
only: whoever scores, stores or orders them lives elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(**_: Any) -> Any:
        """``dataclass(frozen=True, slots=True)`` to the type checker; at run time that makes a record four times as dear."""
        return dataclass(slots=True, unsafe_hash=True)


# Names of signs that a visit carries, besides those that the inspectors of the page give.
CRAWL_DELAY = "crawl_delay"  # seconds between visits that the host's robots.txt asks for
RETRY_AFTER = "retry_after"  # seconds for which the server asked to be left alone
AGENT = "agent"  # number of the agent that fetched the page, in orderings that have several
NOVELTY = "novelty"  # which share of a page's text is new on its host, 0 to 1; a sign of pages that say nothing new
NEW_TEXT = "new_text"  # the same share of a page that is short, or says something new, if it is less than a half
NOTHING_NEW = 0.1  # below this share of new text a page says nothing new
CLIQUE = "clique"  # how much the page's site is part of a link farm, 0 to 1; a sign of the pages of such sites
SUSPECTS = "suspects"  # how many sites with spam the site of such a page links to
NEEDS_BROWSER = "needs_browser"  # 1 for a page made by scripts; also its ``Visit.error`` when none were run
RENDERED = "rendered"  # of a page whose scripts were run in a browser: how many fetches that counts for
CLICKED = "clicked/"  # before a kind of controls that were clicked on it: 1 if that brought text or links
LOGGED_IN = "logged_in"  # 1 for a page of a host with a login
NOT_KEPT = "noindex"  # ``Visit.error`` of a page that was read and asked not to be kept
NOT_STORED = (NOT_KEPT, NEEDS_BROWSER)  # ``Visit.error`` of what was read, and whose links are followed all the same
JUDGED = "judged"  # what a person said of the page: 1 relevant, 0 not; orderings see it in place of its own relevance
SHOWN_BEFORE = "shown_before"  # of a page with nothing new: 1 if its parent shows the same, 0.5 if others do
UNFOLLOWED = "unfollowed"  # how many links a page has that asks that none is followed
OWN_LINKS = "own_links"  # 1 for a duplicate whose links lead elsewhere than those of the first page with its text
PREFERRED = "preferred"  # of a duplicate that replaces others in the collection: how well its language fits, 1 to 6


IMPLIED = "implied"  # ``Link.tag_path`` of a link that the page does not have (``Part.implied``)
PAGE = "page"  # what a URL is fetched for: ``CrawlUrl.kind``
SITEMAP = "sitemap"
FEED = "feed"
PROBE = "probe"
REVISIT = "revisit"
QUERY = "query"  # a result page of a search form
REREAD = "reread"  # a listing, once more
LISTINGS = (SITEMAP, FEED)

# In which precedence class a URL waits (``CrawlUrl.precedence``), as in Heritrix: the lower one first, whatever the scores.
REREADS = 0  # listings that are read again: they say which pages are worth a visit
REVISITS = 1  # pages that are visited again, whose share is limited elsewhere
FIRST = 2  # seeds, and second looks at a page or a host
PLANTED = 3  # the next page of a series, the next query of a form
ACTIVE = 4  # all other URLs; by their scores, a frontier with a floor tells three classes of these apart
SPARE = 5  # below the floor
INACTIVE = 6  # below both floors
OVER_BUDGET = 7  # of a site that has used up what it is worth
UNINFORMATIVE = 8  # of a URL template whose pages say nothing new
REPETITIVE = 9  # of one whose pages say hardly anything new
REDUNDANT = 10  # of one whose pages say nothing new, and what a learned rule makes a copy
WASTE = 11  # of a site that wastes time on purpose, over its budget


@dataclass(frozen=True, slots=True)
class Topic:
    """What a crawl is about (the topic file, validated).

    ``seeds`` start the crawl. ``targets`` are for evaluation only: no ordering may see them. ``positive`` and
    ``negative`` are example URLs or file paths, for orderings that learn from examples. ``settings`` are overrides of
    the project's settings for this topic.

    In a crawl of several topics ``weight`` says how much this one counts, and ``pages`` how many relevant pages it wants (0: as
    many as there are). ``members`` are the topics of such a crawl; the other fields are then those of all together.
    """

    name: str
    keywords: tuple[str, ...]
    seeds: tuple[str, ...]
    language: str = "en"
    description: str = ""
    targets: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    weight: float = 1.0
    pages: int = 0
    members: tuple[Topic, ...] = ()


class Span(NamedTuple):
    """A half-open range ``[start, end)`` of positions in ``Page.terms``."""

    start: int
    end: int


@record(frozen=True, slots=True)
class Link:
    """One ``<a href>`` of a page, with the evidence about what lies behind it.

    ``url`` is canonical. ``anchor`` is the visible text of the link, white space folded, without controls. ``anchor_span`` and
    ``context_span`` are the terms of the anchor and of the sub-tree under the link's aggregation node (paper 003
    section 4.4). ``context_score`` is the cosine similarity, 0 to 1, of that context and the topic's keywords.
    ``tag_path`` names the elements from the root to the link, such as ``html body div#main ul li a``, or is ``IMPLIED``.
    """

    url: str
    anchor: str
    anchor_span: Span
    context_span: Span
    context_score: float = 0.0
    tag_path: str = ""


@record(frozen=True, slots=True)
class Page:
    """A fetched HTML document, read: what every judge and every ordering sees.

    ``url`` is canonical. ``terms`` are the stems of the visible text in document order (stop words left out) and
    ``counts`` their frequencies. ``depth`` is the number of links followed from a seed. ``score`` is what the ordering
    gave the URL before the fetch, ``relevance`` (0 to 1) what the page turned out to be worth. ``inherited`` is what the
    ordering handed down along the path (see ``BaseOrdering.inherited_for_links``). ``indexable`` is False when the page asks
    not to be kept (``<meta name="robots" content="noindex">``). The parts (``Part.examine``) fill in the rest:
    ``page_type`` says why the document is no content (``block/captcha``, ``soft_404``), ``duplicate_of`` is the URL of the
    first page with this text, ``replaces`` that of the copy in whose place the collection keeps this one, ``spam`` (0 to 1) how
    much it looks like spam, and ``signs`` the evidence by name.

    ``published`` is the day of publication as the page states it, ``YYYY-MM-DD``, or empty; ``author`` and ``license`` are
    what it states of these (``pages/html/statements.py``), ``reserved`` the uses that it reserves. ``redirect`` is the canonical
    URL that a browser would show in its place: it is no page then, but a redirect. ``text_main`` makes the main content if asked.
    ``related`` are URLs by what they are to the page, where that is wanted (``pages/html/head.py``). ``topics`` is, in a
    crawl of several topics, the relevance to each by its name; ``relevance`` is then the highest of them. ``kind`` says what its
    URL was fetched for.
    """

    url: str
    title: str = ""
    text: str = ""
    language: str = ""
    terms: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    depth: int = 0
    parent: str | None = None
    score: float = 0.0
    relevance: float = 0.0
    inherited: tuple[float, ...] = ()
    indexable: bool = True
    page_type: str = ""
    duplicate_of: str = ""
    replaces: str = ""
    spam: float = 0.0
    signs: Mapping[str, float] = field(default_factory=dict)
    published: str = ""
    author: str = ""
    license: str = ""
    reserved: str = ""
    redirect: str = ""
    text_main: Callable[[], str] = str
    related: Sequence[tuple[str, str]] = ()
    topics: Mapping[str, float] = field(default_factory=dict)
    kind: str = PAGE

    @property
    def repeats(self) -> bool:
        """Whether the page is a duplicate whose links lead where those of the first page lead."""
        return bool(self.duplicate_of) and OWN_LINKS not in self.signs

    @property
    def needs_browser(self) -> bool:
        """Whether nobody knows what the page is about: its text is made by scripts, which were not run."""
        return NEEDS_BROWSER in self.signs

    @property
    def is_kept(self) -> bool:
        """Whether the page is to be stored."""
        return self.indexable and NEEDS_BROWSER not in self.signs


@record(frozen=True, slots=True)
class CrawlUrl:
    """A URL on its way through the frontier.

    ``url`` is canonical; ``score`` decides the order, higher is sooner. ``parent``, ``anchor`` and ``context_score`` say
    which link led here (``None``: a seed). ``not_before`` is the earliest time of the fetch in seconds since the epoch (0: any
    time). ``request`` is a serialised Scrapy request, for URLs that came from a spider's own ``Request``. ``kind`` says what
    the URL is fetched for: a page, a sitemap, a feed, a probe, a query, a hub, or to see what has become of a page. ``variant``
    tells several fetches of one URL apart, such as the steps of a probe; empty for the fetch that the history records.
    ``precedence`` is the class in which it waits.
    """

    url: str
    score: float
    depth: int = 0
    parent: str | None = None
    anchor: str = ""
    context_score: float = 0.0
    not_before: float = 0.0
    inherited: tuple[float, ...] = ()
    request: str | None = None
    kind: str = PAGE
    variant: str = ""
    precedence: int = ACTIVE

    @property
    def key(self) -> str:
        """What the frontier knows the record by: ``url``, or ``url#kind/variant`` for another fetch of the same URL.

        No canonical URL has a fragment, so keys are unique: a probe of a URL may wait while the URL itself is done.
        """
        return f"{self.url}#{self.kind}/{self.variant}" if self.variant else self.url


# What a visit showed of a page that was known: ``Visit.change``.
SAME = "same"  # its text is as it was
CHANGED = "changed"
MISSING = "missing"  # the server says that there is no such page; looked at once more before it is gone
GONE = "gone"
MOVED = "moved"  # for good, to ``Visit.redirect``
BACK = "back"  # it was missing or gone


@record(frozen=True, slots=True)
class Visit:
    """One finished fetch: a line of ``history.jsonl``.

    ``status`` is the HTTP status, 0 when no response came (``error`` then names why). ``at`` is the end of the fetch in
    seconds since the epoch, ``seconds`` its duration. ``md5`` names the page file and is empty when no page was stored;
    ``digest`` is the MD5 of the body. ``redirect`` is where a 3xx response pointed to. ``parts`` is what the score was
    the sum of, in orderings with such parts. ``duplicate_of``, ``replaces``, ``spam`` and ``signs`` are those of the page;
    ``signs`` also holds the rest that the host asked for, and the agent that fetched it (``CRAWL_DELAY``, ``RETRY_AFTER``,
    ``AGENT``). ``content_type``, ``etag``, ``last_modified`` and ``lifetime`` are those of the fetch.

    A page that is visited again has a line for each visit. ``number`` counts them from 1, ``change`` says what the visit
    showed (empty: nothing, as it failed), and ``novelty``, 0 to 1, which share of the text is new. ``version`` counts the
    texts of the page from 1; such a line has an ``md5`` only when it stored another text. ``topics`` is that of the page,
    ``kind`` that of the URL.
    """

    url: str
    status: int
    at: float
    seconds: float = 0.0
    relevance: float = 0.0
    score: float = 0.0
    depth: int = 0
    parent: str | None = None
    anchor: str = ""
    context_score: float = 0.0
    md5: str = ""
    digest: str = ""
    size: int = 0
    title: str = ""
    links: int = 0
    redirect: str = ""
    error: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    duplicate_of: str = ""
    spam: float = 0.0
    signs: Mapping[str, float] = field(default_factory=dict)
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    lifetime: float = 0.0
    number: int = 1
    version: int = 1
    change: str = ""
    novelty: float = 0.0
    topics: Mapping[str, float] = field(default_factory=dict)
    kind: str = PAGE
    replaces: str = ""

    @property
    def is_page(self) -> bool:
        """Whether the fetch brought a page with content, stored or not."""
        return bool(self.md5) or self.error == NOT_KEPT

    @property
    def is_listing(self) -> bool:
        """Whether the fetch brought a list of links that is no page, such as a sitemap."""
        return not (self.md5 or self.error or self.redirect) and self.number == 1

    @property
    def leads_on(self) -> bool:
        """Whether it brought links to follow: those of a page, of a listing, or of a page that nobody could read."""
        return self.is_page or self.is_listing or self.error == NEEDS_BROWSER

    @property
    def repeats(self) -> bool:
        """As ``Page.repeats``."""
        return bool(self.duplicate_of) and OWN_LINKS not in self.signs

    @property
    def is_left_out(self) -> bool:
        """Whether the page is a duplicate, and no better than its original: the collection is without it."""
        return bool(self.duplicate_of) and not self.replaces


@record(frozen=True, slots=True)
class Fetch:
    """How a fetch went: HTTP status, end (seconds since the epoch), duration in seconds.

    ``asked_rest`` is for how many seconds the server asked to be left alone (``Retry-After``). ``content_type`` is the
    header of that name, at most 200 characters of it. ``etag`` and ``last_modified`` are the headers as sent; empty when they
    were not, or are no validators (see ``core/responses.py``). The server calls it fresh for ``lifetime`` seconds.
    """

    status: int
    at: float
    seconds: float
    asked_rest: float = 0.0
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    lifetime: float = 0.0

    @property
    def rests_from(self) -> float:
        """When the host's rest begins: what it asked for comes on top."""
        return self.at + self.asked_rest


# Why there was no HTTP reply; empty if there was one.
Failure = Literal["", "timeout", "connection refused"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came for one request.

    ``url`` is the requested URL. ``headers`` have lower-case names and describe ``body``, whose transfer and content
    encodings and their headers are removed. ``seconds`` is the simulated duration of the fetch, where it is simulated. If
    ``error`` is set, there was no HTTP reply, ``status`` is 0 and the body is empty. ``unread`` says why a body that came could
    not be read.
    """

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0
    error: Failure = ""
    unread: str = ""


def _no_page() -> None:
    """A fetch that brought no page."""


@record(frozen=True, slots=True)
class FetchEvent:
    """A fetch that ended, live or read from the crawl folder: what every learner of a crawl applies.

    ``visit`` is its line of the history, ``links`` the targets of its links. ``page`` returns the page as it was judged, or
    what a sitemap lists; None when there is none or its file is gone. A replay reads it when it is asked for, once.
    """

    visit: Visit
    links: Sequence[str] = ()
    page: Callable[[], Page | None] = _no_page
