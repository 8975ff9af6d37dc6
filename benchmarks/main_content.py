"""Main content and Markdown on pages labelled by hand: precision, recall, F1 and cost, compared with other libraries.

    python benchmarks/main_content.py --webs ../webs

``--webs`` is a folder with ``<web>/<web>.warc.gz``. Each line of ``main_content.labels.tsv`` has a web, a URL, the number of
text blocks of that page, the blocks that are main content (``5-14,17``), and optional blocks (bylines, comments, references).
Libraries that are not installed are left out: ``pip install trafilatura readability-lxml``.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

from lxml import html
from resiliparse.extract.html2text import extract_plain_text

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/main_content.py`

from crawlproject.pages.html.encoding import decode
from crawlproject.pages.main_content import main_text
from crawlproject.pages.markdown import markdown
from crawlproject.webs.open import open_web

LABELS = Path(__file__).with_name("main_content.labels.tsv")
_BLOCKS = """
    address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol option p pre section select summary table tbody td
    tfoot th thead tr ul
"""
BLOCKS = frozenset(_BLOCKS.split())
UNSEEN = frozenset(("head", "iframe", "noscript", "script", "style", "svg", "template", "textarea", "title"))


class Labelled(NamedTuple):
    """A labelled page, with the words of its main content and of its optional blocks."""

    url: str
    content_type: str
    body: bytes
    main: Counter[str]
    neutral: Counter[str]


def words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in re.findall(r"\w+", text))


def text_blocks(markup: str) -> list[str]:
    """The texts between the start and end tags of blocks, in document order."""
    found: list[str] = []
    pieces: list[str] = []

    def end() -> None:
        if text := " ".join("".join(pieces).split()):
            found.append(text)
        pieces.clear()

    def walk(element: Any) -> None:
        if not isinstance(element.tag, str) or element.tag in UNSEEN:
            return
        if element.tag in BLOCKS:
            end()
        pieces.append(element.text or "")
        for child in element:
            walk(child)
            pieces.append(child.tail or "")
        if element.tag in BLOCKS:
            end()

    walk(html.fromstring(markup.encode(), parser=html.HTMLParser(encoding="utf-8")))
    end()
    return found


def numbers(ranges: str) -> set[int]:
    ends = [part.partition("-") for part in ranges.split(",") if part]
    return {number for first, _, last in ends for number in range(int(first), int(last or first) + 1)}


def labelled_pages(webs: Path, cache: Path) -> list[Labelled]:
    pages = []
    opened: dict[str, Any] = {}
    for line in LABELS.read_text().splitlines():
        web, url, count, main, neutral = line.split("\t")
        if web not in opened:
            opened[web] = open_web(webs / web / f"{web}.warc.gz", cache_dir=cache)
        reply = opened[web].get(url)
        content_type = reply.headers.get("content-type", "")
        blocks = text_blocks(decode(reply.body, content_type)[1])
        if len(blocks) != int(count):
            print(f"{url}: {len(blocks)} blocks, and {count} when it was read; left out")
            continue
        either = numbers(neutral)
        chosen = [" ".join(blocks[n] for n in sorted(some)) for some in (numbers(main) - either, either)]
        pages.append(Labelled(url, content_type, reply.body, words(chosen[0]), words(chosen[1])))
    return pages


def score(text: str, page: Labelled) -> tuple[float, float, float]:
    """Precision, recall and F1 over the multiset of words."""
    found = words(text)
    precision = (found & (page.main + page.neutral)).total() / (found.total() or 1)
    recall = (found & page.main).total() / page.main.total()
    return precision, recall, 2 * precision * recall / (precision + recall or 1)


def contenders() -> dict[str, Callable[[Labelled, str], str]]:
    """The extractors to compare, by name; each gets the page and its markup."""
    links = re.compile(r"\]\([^)]*\)")
    named: dict[str, Callable[[Labelled, str], str]] = {
        "all text": lambda page, markup: extract_plain_text(markup, alt_texts=False),
        "resiliparse": lambda page, markup: extract_plain_text(markup, main_content=True, alt_texts=False),
        "ours, `text_main`": lambda page, markup: main_text(page.body, page.content_type),
        "ours, Markdown": lambda page, markup: links.sub(
            "]", markdown(page.body, url=page.url, content_type=page.content_type)
        ),
    }
    try:
        import trafilatura

        named["trafilatura"] = lambda page, markup: trafilatura.extract(markup, include_comments=False) or ""
        named["trafilatura, recall"] = lambda page, markup: (
            trafilatura.extract(markup, include_comments=False, favor_recall=True) or ""
        )
    except ImportError:
        pass
    try:
        import readability

        named["readability-lxml"] = lambda page, markup: " ".join(
            html.fromstring(readability.Document(markup).summary()).itertext()
        )
    except ImportError:
        pass
    return named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", type=Path, required=True)
    webs = parser.parse_args().webs
    with tempfile.TemporaryDirectory() as cache:
        pages = labelled_pages(webs, Path(cache))
    print(
        f"{len(pages)} pages\n\n| | precision | recall | F1 | F1 below 0.5 | ms a page |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name, extract in contenders().items():
        markups = [decode(page.body, page.content_type)[1] for page in pages]
        began = process_time()
        texts = [extract(page, markup) for page, markup in zip(pages, markups, strict=True)]
        spent = (process_time() - began) / len(pages) * 1_000
        scores = [score(text, page) for text, page in zip(texts, pages, strict=True)]
        figures = " | ".join(f"{mean(values):.3f}" for values in zip(*scores, strict=True))
        print(f"| {name} | {figures} | {sum(f1 < 0.5 for *_, f1 in scores)} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    main()
