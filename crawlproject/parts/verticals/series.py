"""Page series: an article in parts, a thread, a list of results over several pages. Which page comes next?

Two signs have to agree. The page says so: ``rel="next"``, a link whose text is "next page" in one of twenty languages, or the
next number in a row of numbers. And the URL says so: it is that of the page with one number increased by one (an offset: by any
number), or with a number where page 1 has none. So chapters of a book, which have names, are not parts of one page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from crawlproject.pages.html.head import NEXT

FIRST = 1
_MOST_PARTS = 200  # of a series whose numbers have no name, as in story-2.html: larger numbers are years
_NUMBER = re.compile(r"\d{1,6}")
_PAGE_NAME = re.compile(
    r"(?:^|[^a-z])(?:p|pg|page|pagina|pagine|seite|paged|part|teil|partie|strona|sida|side|stranica|list)$"
)
_OFFSETS = re.compile(r"(?:^|[?&;/])(?:start|offset|from|skip|first|b_start:int)[=/]$")
_ADDED = re.compile(r"([/?&;_-]?[A-Za-z_:]{0,12}[=/_-]?)(\d{1,6})([/&]?)")
_IN_A_WORD = re.compile(r"[A-Za-z]|\.\d")  # 2d, 2.0
_LAST_SEGMENT = re.compile(r"(https?://[^/?]+/[^?]+)/(\d{1,3})(/?)")
_ARROWS = ("»", "›", ">", "→", ">>", "»»")
_MARKS = str.maketrans(dict.fromkeys("«»‹›<>→←⟩⟨·|.…:[](){}-–—", " "))
_NEXT_WORDS = frozenset((
    "next", "next page", "next part", "continue", "continue reading", "older", "older posts", "older entries",
    "older comments", "more", "more results", "load more", "show more", "weiter", "nächste", "nächste seite",
    "weiterlesen", "ältere beiträge", "mehr", "suivant", "suivante", "page suivante", "suite", "lire la suite",
    "articles plus anciens", "siguiente", "página siguiente", "siguiente página", "más", "próxima", "próximo",
    "próxima página", "página seguinte", "seguinte", "avanti", "successiva", "successivo", "pagina successiva",
    "prossima", "prossima pagina", "volgende", "volgende pagina", "nästa", "nästa sida", "næste", "næste side",
    "neste", "neste side", "seuraava", "następna", "następna strona", "dalej", "další", "další strana", "следующая",
    "следующая страница", "далее", "вперед", "вперёд", "ещё", "наступна", "sonraki", "sonraki sayfa", "下一页",
    "下一頁", "下页", "次へ", "次のページ", "次ページ", "다음", "다음 페이지", "التالي", "הבא",
))  # fmt: skip


def next_page(url: str, links: Iterable[tuple[str, str]], related: Iterable[tuple[str, str]] = ()) -> str:
    """The next page of the series that the page at canonical ``url`` belongs to; empty when there is none.

    ``links`` are canonical URLs with their texts, ``related`` URLs by kind (``html/head.py``).
    """
    links = list(links)
    in_path = _in_path(url, links)
    for kind, target in related:
        if kind == NEXT and (follows(url, target) or target == in_path):
            return target
    number = number_of(url)
    numbered = ""
    for target, text in links:
        if not text or len(text) > 40 or target == url:
            continue
        bare = " ".join(text.translate(_MARKS).lower().split())
        said = bare in _NEXT_WORDS or (not bare and text.strip() in _ARROWS)
        if (said or (bare == str(number + 1) and not numbered)) and (target == in_path or follows(url, target)):
            if said:
                return target
            numbered = target
    return numbered


def follows(url: str, target: str) -> bool:
    """Whether ``target`` is ``url`` with one number one higher, with a higher offset, or with a number where page 1 has none."""
    step = _difference(url, target)
    if step is None:
        return False
    before, old, new = step
    if old is None:
        return _begins(before, new)
    if _OFFSETS.search(before):
        return new > old
    return new == old + 1 and (_names_page(before) or (before[-1:] in "-_" and new <= _MOST_PARTS))


def may_follow(url: str, target: str) -> bool:
    """Whether ``target`` may be the next page after ``url``, as far as the URLs show it."""
    found = _LAST_SEGMENT.fullmatch(url)
    return follows(url, target) or (found is not None and target == f"{found[1]}/{int(found[2]) + 1}{found[3]}")


def _in_path(url: str, links: Iterable[tuple[str, str]]) -> str:
    """The next URL of ``/story/2/``, if a link "1" leads to ``/story/``: other numbers in paths are dates and identifiers."""
    found = _LAST_SEGMENT.fullmatch(url)
    if found is None or not FIRST < int(found[2]) < _MOST_PARTS:
        return ""
    first = any(target.rstrip("/") == found[1] and text.strip() == "1" for target, text in links)
    return f"{found[1]}/{int(found[2]) + 1}{found[3]}" if first else ""


def number_of(url: str) -> int:
    """The number of the page at ``url`` in its series, as far as its URL shows it; else 1."""
    for found in reversed(list(_NUMBER.finditer(url))):
        if _names_page(url[: found.start()].lower()):
            return int(found[0])
    return FIRST


def _difference(url: str, target: str) -> tuple[str, int | None, int] | None:
    """The text before the one number in which two URLs differ, and that number in both; None for a URL that lacks it."""
    start = 0
    most = min(len(url), len(target))
    while start < most and url[start] == target[start]:
        start += 1
    end = 0
    while end < most - start and url[-1 - end] == target[-1 - end]:
        end += 1
    while (
        start
        and target[start - 1].isdigit()
        and (url[start : start + 1].isdigit() or target[start : start + 1].isdigit())
    ):
        start -= 1  # the numbers begin alike
    while end and target[-end].isdigit() and target[: len(target) - end][-1:].isdigit():
        end -= 1
    old, new = url[start : len(url) - end], target[start : len(target) - end]
    before = unquote(target[:start]).lower()
    if start <= url.find("//") + 2 or "/" not in url[url.find("//") + 2 : start]:
        return None  # not in the host
    if new[-1:].isdigit() and _IN_A_WORD.match(target[len(target) - end :]):
        return None
    if _NUMBER.fullmatch(old) and _NUMBER.fullmatch(new):
        return before, int(old), int(new)
    if not old and (added := _ADDED.fullmatch(new)):
        whole = before + added[1].lower()
        if added[1].strip("/?&;_-") and not _names_page(whole) and not _OFFSETS.search(whole):
            return None  # the number counts something else
        return whole, None, int(added[2])
    return None


def _begins(before: str, number: int) -> bool:
    """Whether a number after ``before`` is that of the second page, in a series whose first page has none."""
    if _OFFSETS.search(before):
        return 0 < number <= 1_000
    return number == FIRST + 1 and (_names_page(before) or before[-1:] in "-_/")


def _names_page(before: str) -> bool:
    """Whether a number after ``before`` counts pages."""
    return _PAGE_NAME.search(re.sub(r"[=/_\-]$", "", before)) is not None
