"""Recognises pages and links in unwanted languages: by the stated language (``lang``, ``hreflang``), else by the words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from crawlproject.core.part import Part, Setup
from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.pages.html.head import LANGUAGE
from crawlproject.pages.text.languages import languages, stop_word_shares
from crawlproject.parts.languages.options import LanguageOptions
from crawlproject.records import Fetch, Page

FOREIGN = "foreign_language"  # sign of a page in an unwanted language
_ENOUGH = 0.15  # share of stop words of a language from which a text is in that language; English text has 0.4
_FACTOR = 0.5  # of the score of a URL that names another language: weak evidence, as in /it/ for computers
_CODE = r"([a-z]{2})(?:[-_][a-z]{2,4})?"
_IN_URL = re.compile(
    rf"https?://(?:{_CODE}(?=\.[^/.]+\.))?[^/]*/(?:{_CODE}(?=/|$))?(?:.*[?&](?:lang|language|locale|hl)={_CODE}(?=&|$))?",
    re.IGNORECASE,
)


class Languages(Part):
    """The part of a crawl with ``CRAWL_LANGUAGES``. In doubt a page is wanted; the links of seeds are always followed."""

    name = "languages"

    def __init__(self, wanted: Iterable[str], *, keeps: bool = False) -> None:
        self._wanted, self._keeps = frozenset(map(_code, wanted)), keeps

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["related"] if options.of(LanguageOptions).crawl_languages else []

    @classmethod
    def make(cls, setup: Setup) -> Languages | None:
        options = setup.options.of(LanguageOptions)
        wanted = options.crawl_languages
        if wrong := [code for code in wanted if _code(code) not in languages()]:
            raise BadSetting("setting CRAWL_LANGUAGES", f"expected codes of languages such as en, not {wrong[0]!r}")
        return cls(wanted, keeps=options.crawl_languages_keep) if wanted else None

    def examine(self, page: Page, fetch: Fetch) -> Page:
        if not self._is_foreign(page):
            return page
        return replace(page, signs={**page.signs, FOREIGN: 1.0}, indexable=page.indexable and self._keeps)

    examine_again = examine

    def followed(self, page: Page) -> Page:
        if FOREIGN in page.signs and page.depth:
            return replace(page, links=())
        said = [(url, _code(kind.removeprefix(LANGUAGE))) for kind, url in page.related if kind.startswith(LANGUAGE)]
        foreign = {url for url, code in said if code in languages()} - {
            url for url, code in said if code in self._wanted
        }
        return replace(page, links=tuple(link for link in page.links if link.url not in foreign)) if foreign else page

    def lowered(self, url: str, score: float) -> float:
        named = _IN_URL.match(url)
        codes = {_code(code) for code in named.groups("")} & languages() if named else set()
        if not codes or codes & self._wanted:
            return score
        return score * _FACTOR if score > 0 else score / _FACTOR

    def _is_foreign(self, page: Page) -> bool:
        """Whether a page states an unwanted language and its words do not contradict, or states none and its words are clear."""
        if (said := _code(page.language)) in self._wanted:
            return False
        shares = stop_word_shares(page.text)
        best, ours = max(shares.values(), default=0.0), max(shares.get(code, 0.0) for code in self._wanted)
        if said in languages():  # a known language: not "und", "mul" or the placeholder of a template
            return best < _ENOUGH or ours < best
        return best >= _ENOUGH and ours < best / 2


def _code(tag: str) -> str:
    """The language of a tag such as ``en-GB``; all kinds of Norwegian are ``nb``."""
    code = re.split("[-_]", tag.strip().lower())[0]
    return {"no": "nb", "nn": "nb"}.get(code, code)
