"""Pages in unwanted languages are not kept and their links not followed; in doubt a page is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.webs import DictWeb

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.errors import BadSetting
from crawlproject.parts.languages.part import FOREIGN, Languages
from crawlproject.records import NOT_KEPT, Fetch, Link, Page, Reply, Span, Topic
from crawlproject.storage.read import read_visits

ENGLISH = (
    "The reef is one of the largest in the world, and it has been there for as long as anyone can remember it. " * 3
)
GERMAN = "Das Riff ist eines der größten der Welt, und es ist schon so lange da, wie man sich daran erinnern kann. " * 3
CHINESE = "大堡礁是世界上最大的珊瑚礁群，位于澳大利亚东北海岸。我们不知道它的将来，但是在这里的人都说它还有希望。" * 3
FETCH = Fetch(200, 0.0, 0.1)
SEED = "http://seed.example/"


def is_foreign(text: str, language: str = "", *wanted: str) -> bool:
    page = Languages(wanted or ("en",)).examine(Page("http://a.example/", text=text, language=language), FETCH)
    assert page.is_kept == (FOREIGN not in page.signs)
    return not page.is_kept


@pytest.mark.parametrize(
    ("text", "language", "foreign"),
    [
        (ENGLISH, "en", False),
        (GERMAN, "de", True),
        (GERMAN, "", True),
        (CHINESE, "", True),
        (ENGLISH, "", False),
        (ENGLISH, "de", False),  # its template says so, its words do not
        (GERMAN, "en", False),  # it says that it is wanted
        ("Riff", "de", True),
        ("Riff", "und", False),  # it says nothing
        (GERMAN, "{{ lang }}", True),
        ("Riff", "", False),
        ("", "", False),
        ("coral 12 reef 13 atoll 14 " * 20, "", False),
    ],
)
def test_what_a_page_says_then_its_words(text: str, language: str, foreign: bool) -> None:
    assert is_foreign(text, language) == foreign


def test_any_of_several_languages_is_wanted() -> None:
    assert not is_foreign(GERMAN, "", "en", "de-AT") and not is_foreign(GERMAN, "de", "de")
    assert is_foreign(ENGLISH, "", "de") and not is_foreign(GERMAN, "no", "nb")


def test_a_page_that_is_kept_leads_nowhere_all_the_same() -> None:
    links = (Link("http://b.example/", "", Span(0, 0), Span(0, 0)),)
    part = Languages(["en"], keeps=True)
    page = part.examine(Page("http://a.example/", text=GERMAN, language="de", links=links, depth=1), FETCH)
    assert page.is_kept and not part.followed(page).links
    seed = part.examine(Page("http://a.example/", text=GERMAN, language="de", links=links, depth=0), FETCH)
    assert part.followed(seed).links == links, "a person named it"


@pytest.mark.parametrize(
    ("url", "lowered"),
    [
        ("http://a.example/de/reef", True),
        ("http://a.example/de", True),
        ("http://a.example/pt-br/reef", True),
        ("http://de.reefs.example/x", True),
        ("http://a.example/x?lang=de", True),
        ("http://a.example/x?q=1&hl=DE&r=2", True),
        ("http://a.example/en/reef", False),
        ("http://de.reefs.example/en/x", False),
        ("http://a.example/reef/de/x", False),
        ("http://a.example/xq/x", False),
        ("http://de.example/", False),
        ("http://a.example/design/", False),
        ("http://a.example/x?long=de", False),
    ],
)
def test_a_url_that_names_another_language_comes_later(url: str, lowered: bool) -> None:
    part = Languages(["en"])
    assert (part.lowered(url, 0.8), part.lowered(url, -1.0)) == ((0.4, -2.0) if lowered else (0.8, -1.0))


@pytest.mark.parametrize("wrong", ["english", "e", "q9"])
def test_a_wrong_code_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(BadSetting, match="CRAWL_LANGUAGES: expected codes of languages such as en, not "):
        a_crawl(tmp_path, CRAWL_LANGUAGES=[wrong])


# ---------------------------------------------------------------- a crawl


def a_crawl(folder: Path, **settings: object) -> Crawl:
    chosen = {"POLITENESS_MIN_DELAY": 0.1, "POLITENESS_FACTOR": 0, "ORDERING": "breadth_first", **settings}
    return assemble(Topic("reef", ("reef",), (SEED,)), read_options(chosen), clock=lambda: 0.0, folder=folder)


def reply(url: str, body: str, language: str = "", **headers: str) -> tuple[str, Reply]:
    markup = f'<html lang="{language}"><title>x</title><body>{body}'
    return url, Reply(url, 200, {"content-type": "text/html; charset=utf-8", **headers}, markup.encode())


WEB = DictWeb(
    dict(
        [
            reply(
                SEED,
                f'{ENGLISH}<a href="/german">1</a> <a href="/said">2</a> <a href="/header">3</a> <a href="/english">4</a>'
                '<a hreflang="de" href="/named">5</a> <a hreflang="en" href="/both">6</a> <a hreflang="de" href="/both">7</a>',
                "en",
            ),
            reply(f"{SEED}german", f'{GERMAN}<a href="/from-german">x</a>'),
            reply(f"{SEED}said", '<a href="/from-said">Riff</a>', "de"),
            reply(f"{SEED}header", '<a href="/from-header">Riff</a>', **{"content-language": "de-DE"}),
            reply(f"{SEED}english", f'{ENGLISH}<a href="/from-english">x</a>'),
            reply(f"{SEED}from-english", f"{ENGLISH} It ends here."),
            reply(f"{SEED}both", ENGLISH.replace("reef", "atoll")),
            *(reply(f"{SEED}{name}", ENGLISH) for name in ("named", "from-german", "from-said", "from-header")),
        ]
    )
)


def run(crawl: Crawl, fetches: int = 100, begin: float = 1000.0) -> None:
    for number in range(fetches):
        if (url := crawl.take(now := begin + number)) is None:
            break
        page = crawl.receive(url, WEB.get(url.url), fetch := Fetch(200, now, 0.1))
        steps = crawl.steps
        assert page is not None
        page = steps.score_links(steps.score_page(steps.examine(page, fetch)))
        visit = steps.visit(url, page, b"x", fetch)
        steps.keep(page, visit)
        steps.offer(page, fetch)


@pytest.mark.parametrize("keeps", [False, True])
def test_a_crawl_keeps_to_its_languages(tmp_path: Path, keeps: bool) -> None:
    crawl = a_crawl(tmp_path, CRAWL_LANGUAGES="en", CRAWL_LANGUAGES_KEEP=keeps)
    run(crawl, 3)
    crawl.close("interrupted", 1010.0)
    crawl = a_crawl(tmp_path, CRAWL_LANGUAGES="en", CRAWL_LANGUAGES_KEEP=keeps)
    run(crawl, begin=2000.0)
    names = {url.removeprefix(SEED) for url in crawl.folder.history}
    assert names == {"", "german", "said", "header", "english", "from-english", "both"}
    unkept = {visit.url.removeprefix(SEED) for visit in read_visits(tmp_path) if visit.error == NOT_KEPT}
    assert unkept == (set() if keeps else {"german", "said", "header"})


def test_without_the_setting_there_is_no_such_part(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    assert crawl.part(Languages) is None
    run(crawl)
    assert len(set(crawl.folder.history)) == len(WEB.replies)
