"""The frozen records that the components of the crawler pass to each other.

``Topic`` describes what the user asked for. A fetched document becomes a ``Page`` with ``Link`` s; a link that is worth
following becomes a ``CrawlUrl`` in the frontier; a finished fetch leaves a ``Visit`` in the history. Records carry facts
only: the code that scores, stores or orders them lives elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(**_: Any) -> Any:
        """``dataclass(frozen=True, slots=True)`` for the type checker; at run time, frozen records cost four times as much."""
        return dataclass(slots=True, unsafe_hash=True)


# Names of the signs of a visit; ``Part.examine`` may add others.
CRAWL_DELAY = "crawl_delay"  # seconds between visits that the host's robots.txt asks for
RETRY_AFTER = "retry_after"  # seconds for which the server asked to be left alone
AGENT = "agent"  # number of the agent that fetched the page, in orderings with several agents
NOVELTY = "novelty"  # share of a page's text that is new on its host, 0 to 1; set for pages that say nothing new
NEW_TEXT = "new_text"  # the same share, set for pages that are short or say something new, if it is below one half
NOTHING_NEW = 0.1  # below this share of new text, a page says nothing new
CLIQUE = "clique"  # how far the page's site belongs to a link farm, 0 to 1; set for pages of such sites
SUSPECTS = "suspects"  # number of spam sites that the site of such a page links to
NEEDS_BROWSER = "needs_browser"  # 1 for a page made by scripts; also its ``Visit.error`` when the scripts were not run
RENDERED = "rendered"  # for a page whose scripts were run in a browser: the number of fetches that this counts for
CLICKED = "clicked/"  # prefix of a kind of control that was clicked: 1 if the clicks brought text or links
LOGGED_IN = "logged_in"  # 1 for a page of a host with a login
NOT_KEPT = "noindex"  # ``Visit.error`` of a page that was read but asks not to be kept
NOT_STORED = (NOT_KEPT, NEEDS_BROWSER)  # ``Visit.error`` of pages that are not stored, but whose links are followed
JUDGED = "judged"  # a person's judgment of the page: 1 relevant, 0 not; orderings see it in place of the relevance
SHOWN_BEFORE = "shown_before"  # for a page with nothing new: 1 if its parent shows the same text, 0.5 if other pages do
UNFOLLOWED = "unfollowed"  # number of links on a page that asks for none of them to be followed
OWN_LINKS = "own_links"  # 1 for a duplicate whose links differ from those of the first page with its text
PREFERRED = "preferred"  # for a duplicate that replaces others in the collection: how well its language fits, 1 to 6


IMPLIED = "implied"  # ``Link.tag_path`` of a link that is not on the page itself (``Part.implied``)
PAGE = "page"  # this and the next ones: what a URL is fetched for (``CrawlUrl.kind``)
SITEMAP = "sitemap"
FEED = "feed"
PROBE = "probe"
REVISIT = "revisit"
QUERY = "query"  # a result page of a search form
REREAD = "reread"  # a listing that is read again
LISTINGS = (SITEMAP, FEED)

# Precedence classes of URLs (``CrawlUrl.precedence``), as in Heritrix: lower classes are served first, whatever the scores.
REREADS = 0  # listings that are read again, to learn which pages are worth a visit
REVISITS = 1  # pages that are visited again; their share is limited elsewhere
FIRST = 2  # seeds, and second looks at a page or a host
PLANTED = 3  # the next page of a series, the next query of a form
ACTIVE = 4  # all other URLs; a frontier with a floor splits them by score into this class and the next two
SPARE = 5  # below the floor
INACTIVE = 6  # below both floors
OVER_BUDGET = 7  # URLs of a site that has used up its budget
UNINFORMATIVE = 8  # URLs of a template whose pages say nothing new
REPETITIVE = 9  # URLs of a template whose pages say hardly anything new
REDUNDANT = 10  # URLs of a template whose pages say nothing new, and URLs that are copies by a learned rule
WASTE = 11  # URLs of a site that wastes time on purpose, once over its budget


@dataclass(frozen=True, slots=True)
class Topic:
    """What a crawl is about: the validated topic file.

    ``seeds`` start the crawl. ``targets`` are for evaluation only: no ordering may see them. ``positive`` and
    ``negative`` are example URLs or file paths, for orderings that learn from examples. ``settings`` override the project's
    settings for this topic.

    In a crawl of several topics, ``weight`` says how much a topic counts, and ``pages`` how many relevant pages it wants (0: as
    many as there are). ``members`` are the topics of such a crawl; the other fields then describe all members together.
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
    """One ``<a href>`` of a page, with the evidence about its target.

    ``url`` is canonical. ``anchor`` is the visible text of the link, with white space folded and control characters removed.
    ``anchor_span`` and ``context_span`` cover the terms of the anchor and of the subtree under the link's aggregation node
    (paper 003 section 4.4). ``context_score`` is the cosine similarity, 0 to 1, of that context and the topic's keywords.
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
    """A fetched and parsed HTML document, as every judge and every ordering sees it.

    ``url`` is canonical. ``terms`` are the stems of the visible text in document order, without stop words, and ``counts``
    their frequencies. ``depth`` is the number of links followed from a seed. ``score`` is the score that the ordering gave
    the URL before the fetch, ``relevance`` (0 to 1) the relevance of the page itself. ``inherited`` holds the values that the
    ordering passed down along the path (see ``BaseOrdering.inherited_for_links``). ``indexable`` is False when the page asks
    not to be kept (``<meta name="robots" content="noindex">``). The parts (``Part.examine``) fill in the rest:
    ``page_type`` says why the document has no content (``block/captcha``, ``soft_404``), ``duplicate_of`` is the URL of the
    first page with this text, ``replaces`` the URL of the copy that this page replaces in the collection, ``spam`` (0 to 1) how
    much the page looks like spam, and ``signs`` the evidence by name.

    ``published`` is the day of publication that the page states, ``YYYY-MM-DD``, or empty; ``author`` and ``license`` are as the
    page states them (``pages/html/statements.py``), ``reserved`` are the uses that it reserves. If ``redirect`` is set, the
    document is no page but a redirect to that canonical URL, as in a browser. ``text_main`` returns the main content.
    ``related`` pairs URLs with their relation to the page, where wanted (``pages/html/head.py``). In a crawl of several topics,
    ``topics`` maps topic names to relevance, and ``relevance`` is the highest of these values. ``kind`` says what the URL was
    fetched for.
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
        """Whether the page is a duplicate with the same link targets as the first page."""
        return bool(self.duplicate_of) and OWN_LINKS not in self.signs

    @property
    def needs_browser(self) -> bool:
        """Whether the content of the page is unknown: its text is made by scripts, which were not run."""
        return NEEDS_BROWSER in self.signs

    @property
    def is_kept(self) -> bool:
        """Whether the page should be stored."""
        return self.indexable and NEEDS_BROWSER not in self.signs


@record(frozen=True, slots=True)
class CrawlUrl:
    """A URL on its way through the frontier.

    ``url`` is canonical; ``score`` decides the order, higher scores first. ``parent``, ``anchor`` and ``context_score``
    describe the link that led here (``None``: a seed). ``not_before`` is the earliest time of the fetch in seconds since the
    epoch (0: any time). ``request`` is a serialised Scrapy request, for URLs that came from a spider's own ``Request``. ``kind``
    says what the URL is fetched for: a page, a sitemap, a feed, a probe, a query, a hub, or a revisit of a page. ``variant``
    distinguishes several fetches of one URL, such as the steps of a probe; it is empty for the fetch that the history records.
    ``precedence`` is the class in which the URL waits.
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
        """The key of the record in the frontier: ``url``, or ``url#kind/variant`` for another fetch of the same URL.

        No canonical URL has a fragment, so keys are unique: a probe of a URL may wait after the URL itself is done.
        """
        return f"{self.url}#{self.kind}/{self.variant}" if self.variant else self.url


# What a visit showed about a known page: ``Visit.change``.
SAME = "same"  # its text has not changed
CHANGED = "changed"
MISSING = "missing"  # the server says that there is no such page; it is visited once more before it counts as gone
GONE = "gone"
MOVED = "moved"  # permanently, to ``Visit.redirect``
BACK = "back"  # it was missing or gone


@record(frozen=True, slots=True)
class Visit:
    """One finished fetch: a line of ``history.jsonl``.

    ``status`` is the HTTP status, 0 when no response came (``error`` then says why). ``at`` is the end of the fetch in
    seconds since the epoch, ``seconds`` its duration. ``md5`` names the page file and is empty when no page was stored;
    ``digest`` is the MD5 of the body. ``redirect`` is the target of a redirect. ``parts`` holds the addends of the score, in
    orderings whose score is a sum. ``duplicate_of``, ``replaces``, ``spam`` and ``signs`` are those of the page;
    ``signs`` also holds the rest that the host asked for, and the agent that fetched the page (``CRAWL_DELAY``, ``RETRY_AFTER``,
    ``AGENT``). ``content_type``, ``etag``, ``last_modified`` and ``lifetime`` are those of the fetch.

    A page that is visited again has one line for each visit. ``number`` counts the visits from 1, ``change`` says what the visit
    showed (empty: nothing, because it failed), and ``novelty``, 0 to 1, is the share of the text that is new. ``version`` counts
    the texts of the page from 1; a later visit has an ``md5`` only when it stored a new text. ``topics`` is that of the page,
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
        """Whether the fetch returned a page with content, stored or not."""
        return bool(self.md5) or self.error == NOT_KEPT

    @property
    def is_listing(self) -> bool:
        """Whether the fetch returned a list of links that is no page, such as a sitemap."""
        return not (self.md5 or self.error or self.redirect) and self.number == 1

    @property
    def leads_on(self) -> bool:
        """Whether the fetch returned links to follow: those of a page, of a listing, or of a page that needs a browser."""
        return self.is_page or self.is_listing or self.error == NEEDS_BROWSER

    @property
    def repeats(self) -> bool:
        """The same as ``Page.repeats``."""
        return bool(self.duplicate_of) and OWN_LINKS not in self.signs

    @property
    def is_left_out(self) -> bool:
        """Whether the collection leaves the page out, because it is a duplicate and no better than its original."""
        return bool(self.duplicate_of) and not self.replaces


@record(frozen=True, slots=True)
class Fetch:
    """How a fetch went: HTTP status, end (seconds since the epoch), duration in seconds.

    ``asked_rest`` is the number of seconds for which the server asked to be left alone (``Retry-After``). ``content_type`` is
    the header of that name, at most 200 characters. ``etag`` and ``last_modified`` are the headers as sent, empty when they are
    missing or no valid validators (see ``core/responses.py``). The server declares the response fresh for ``lifetime`` seconds.
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
        """When the host's regular rest begins: after the rest that the server asked for."""
        return self.at + self.asked_rest


# Why there was no HTTP reply; empty if there was one.
Failure = Literal["", "timeout", "connection refused"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one request.

    ``url`` is the requested URL. ``headers`` have lower-case names and describe ``body``, which is decoded: transfer and
    content encodings and their headers are removed. ``seconds`` is the simulated duration of the fetch, if it is simulated. If
    ``error`` is set, there was no HTTP reply, ``status`` is 0 and the body is empty. ``unread`` says why a received body could
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
    """Return None: the fetch returned no page."""


@record(frozen=True, slots=True)
class FetchEvent:
    """A finished fetch, live or read from the crawl folder. Everything that learns in a crawl learns from these events.

    ``visit`` is its line of the history, ``links`` the targets of its links. ``page`` returns the page as it was judged, or the
    content of a sitemap; None if there is none or its file is gone. A replay reads the page on the first call only.
    """

    visit: Visit
    links: Sequence[str] = ()
    page: Callable[[], Page | None] = _no_page
