"""Views of pages are recognised from the pages of a site, and their URLs refused; URLs with unique content never are."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.parts.verticals.redundancy.redundant_urls import REASON, RedundantUrls
from crawlproject.parts.verticals.redundancy.shown_content import ShownContent
from crawlproject.parts.verticals.site_template import GeneralTemplate, SiteTemplates
from crawlproject.records import SHOWN_BEFORE, Fetch, FetchEvent, Page, Visit
from crawlproject.urls.canonical import Canonicalizer

HOST = "http://a.example"
FETCH = Fetch(200, 1.0, 0.1)
READER = Reader(Analyzer("en"), canonicalize=Canonicalizer(), tag_paths=False)


def words(number: int) -> str:
    return " ".join(f"w{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}{chr(97 + k)}" for k in range(20))


class Site:
    """A site whose pages are visited in order, each linked from an earlier page, with queries of the learned state."""

    def __init__(
        self, templates: SiteTemplates | None = None, *, learns: bool = True, planted: Collection[str] = ()
    ) -> None:
        self.known: set[str] = set()
        self.urls = RedundantUrls(
            templates or SiteTemplates(), self.known.__contains__, learns=learns, planted=planted.__contains__
        )
        self.shown = ShownContent(self.urls.leads_on, self.known.__contains__)

    def visit(self, path: str, parent: str, text: str, links: Iterable[str] = (), *, duplicate_of: str = "") -> Page:
        lines = "".join(f"<p>{line}</p>" for line in text.split("\n"))
        body = f"<body><p>A menu of the site</p>{lines}{''.join(f'<a href={link}>{link}</a>' for link in links)}</body>"
        url = HOST + path
        page = READER.read(url, body.encode(), content_type="text/html", depth=1, parent=HOST + parent)
        self.known.update([url, *(link.url for link in page.links)])
        page = self.shown.inspect(page, FETCH)
        visit = Visit(
            url, 200, 1.0, depth=1, parent=HOST + parent, md5="0", signs=page.signs, duplicate_of=duplicate_of
        )
        self.urls.learn(FetchEvent(visit))
        return page

    def refused(self, paths: Iterable[str]) -> float:
        """The share of the paths that is refused."""
        asked = [self.urls.refusal(HOST + path) for path in paths]
        assert set(asked) <= {"", REASON}
        return sum(map(bool, asked)) / len(asked)


def thread(site: Site, number: int) -> list[str]:
    posts = [words(10 * number + k) for k in range(5)]
    site.visit(f"/thread/{number}", "/", "\n".join(posts), [f"/post/{number}-{k}" for k in range(5)])
    return posts


def test_single_posts_of_threads_are_refused_and_threads_are_not() -> None:
    site = Site()
    for number in range(3):
        for k, post in enumerate(thread(site, number)):
            page = site.visit(f"/post/{number}-{k}", f"/thread/{number}", post)
            assert page.signs.get(SHOWN_BEFORE) == 1.0
    assert site.refused(f"/post/9-{k}" for k in range(200)) > 0.9, "but one in 25, to see whether it still holds"
    assert site.refused(f"/thread/{n}" for n in range(50)) == 0.0


def test_four_pages_are_enough_and_three_are_not() -> None:
    site = Site()
    posts = thread(site, 1)
    for k in range(3):
        site.visit(f"/post/1-{k}", "/thread/1", posts[k])
    assert site.refused(f"/post/9-{k}" for k in range(50)) == 0.0
    site.visit("/post/1-3", "/thread/1", posts[3])
    assert site.refused(f"/post/9-{k}" for k in range(50)) > 0.8


def test_a_rule_is_withdrawn_when_its_pages_bring_something() -> None:
    site = Site()
    for number in range(3):
        for k, post in enumerate(thread(site, number)):
            site.visit(f"/post/{number}-{k}", f"/thread/{number}", post)
    for n in range(30):
        site.visit(f"/post/7-{n}", "/thread/7", words(400 + n))
    assert site.refused(f"/post/9-{k}" for k in range(50)) == 0.0


def test_another_order_has_no_new_line_though_its_runs_of_words_are_new() -> None:
    site = Site()
    for page in range(1, 6):
        items = [f"{words(20 * page + k)[:11]}" for k in range(8)]
        site.visit(f"/list?page={page}", "/", "\n".join(items), [f"/list?o=x{page}&page={page}"])
        shown = site.visit(f"/list?o=x{page}&page={page}", f"/list?page={page}", "\n".join(reversed(items)))
        assert shown.signs.get(SHOWN_BEFORE) == 1.0
    assert site.refused(f"/list?o=a{k}&page={k}" for k in range(100)) > 0.9
    assert site.refused(f"/list?page={k}" for k in range(6, 20)) == 0.0, "others add to it: it is what they show"


def test_chapters_of_a_book_that_is_also_one_page_are_pages_of_their_own() -> None:
    site = Site()
    chapters = [words(n) for n in range(12)]
    site.visit("/book-in-one.html", "/", "\n".join(chapters))
    for number, text in enumerate(chapters):
        page = site.visit(f"/book/ch{number:02}.html", "/contents.html", text)
        assert page.signs.get(SHOWN_BEFORE) == 0.5
    assert site.refused(f"/book/ch{n}.html" for n in range(12, 40)) == 0.0


def test_a_new_link_is_content() -> None:
    site = Site()
    posts = thread(site, 1)
    page = site.visit("/post/1-0", "/thread/1", posts[0], ["/somewhere/quite/else"])
    assert SHOWN_BEFORE not in page.signs


def test_words_for_a_view_are_presumed_until_pages_say_otherwise() -> None:
    site = Site()
    assert site.refused(f"/thread/{n}/print" for n in range(100)) > 0.9
    for n in range(12):
        site.visit(f"/thread/{n}/print", "/", words(n))
    assert site.refused(f"/thread/{n}/print" for n in range(100)) == 0.0


def test_an_order_is_refused_only_where_the_list_itself_is_known() -> None:
    site = Site()
    assert site.refused(f"/list?page={n}&sort=price" for n in range(50)) == 0.0, "the site has no other list"
    site.known.update(f"{HOST}/list?page={n}" for n in range(50))
    assert site.refused(f"/list?page={n}&sort=price" for n in range(50)) > 0.8


def test_what_is_planted_is_fetched() -> None:
    site = Site(planted={f"{HOST}/thread/{n}/print" for n in range(50)})
    assert site.refused(f"/thread/{n}/print" for n in range(50)) == 0.0


class Own(GeneralTemplate):
    def skip(self, url: str) -> bool | None:
        return True if "/member/" in url else False if "/print" in url else None


def test_an_own_template_decides_where_it_knows() -> None:
    site = Site(SiteTemplates({"a.example": Own()}), learns=False)
    assert site.refused([f"/member/{n}" for n in range(30)]) == 1.0
    assert site.refused([f"/thread/{n}/print" for n in range(30)]) == 0.0
    assert site.refused([f"/reply/{n}" for n in range(30)]) == 0.0, "nothing else is learned"
