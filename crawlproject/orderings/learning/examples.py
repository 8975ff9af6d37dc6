"""On-topic and off-topic pages for orderings that learn from examples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.learning.taxonomy import Example, Path, Taxonomy
from crawlproject.records import Page

WEB: Path = ("(web)",)  # the class of pages that are not files
_TOP = 20  # the most relevant 1 / _TOP of the pages drawn serve as examples of the topic


def good_pages(context: OrderingContext, drawn: Sequence[Page]) -> Sequence[Page]:
    """The topic's positive examples, and the pages that a person has called relevant.

    Without examples, in their place: the seeds' pages in the archive and the most relevant twentieth of the pages ``drawn``
    from it. Each page once.
    """
    if context.positive or context.archive is None:
        return (*context.positive, *context.said_relevant)
    seeds = filter(None, map(context.archive.page, context.topic.seeds))
    ranked = sorted(drawn, key=lambda page: -page.relevance)
    best = [page for page in ranked[: max(1, len(ranked) // _TOP)] if page.relevance]
    return list({page.url: page for page in (*seeds, *best, *context.said_relevant)}.values())


def bad_pages(context: OrderingContext, drawn: Sequence[Page]) -> Sequence[Page]:
    """The topic's negative examples, or the less relevant half of the pages ``drawn``; and those called not relevant."""
    examples = context.negative or sorted(drawn, key=lambda page: -page.relevance)[len(drawn) // 2 :]
    return (*examples, *context.said_irrelevant)


def drawn_pages(context: OrderingContext, count: int) -> Sequence[Page]:
    """``count`` random pages of the archive; all that have a text when there are fewer, none without an archive."""
    if context.archive is None:
        return ()
    urls = list(context.archive.urls())
    context.random.shuffle(urls)
    found: dict[str, Page] = {}
    for url in urls:
        if len(found) >= count:
            break
        page = context.archive.page(url)
        if page is not None and page.counts:
            found.setdefault(page.url, page)
    return list(found.values())


def taxonomy_of(context: OrderingContext, sample: int) -> Taxonomy:
    """The taxonomy of the good and the bad pages. The folder of a file is its class, and a folder in it a class below.

    The root is the folder that all files are in; pages of the web are one class below it. ``sample`` pages are drawn from the
    archive when the topic lacks examples of a side; the keywords are then one more text on the topic. Raises ``BadSetting``
    when a side stays empty.
    """
    drawn = () if context.positive and context.negative else drawn_pages(context, sample)
    sides = {"positive": good_pages(context, drawn), "negative": bad_pages(context, drawn)}
    for side, found in sides.items():
        if not found:
            raise BadSetting(
                "ordering focused",
                f"has no {side} examples: name pages in examples.{side} of the topic file, "
                "or set ORDERING_ARCHIVE to a web with such pages",
            )
    examples = examples_of(sides["positive"], sides["negative"])
    if not context.positive:
        examples.append(Example(WEB, True, context.judge.query))
    return Taxonomy(examples)


def examples_of(good: Sequence[Page], bad: Sequence[Page]) -> list[Example]:
    """The good pages and the bad ones with their classes, in this order (see ``taxonomy_of``)."""
    pages = [*good, *bad]
    folders = [_folder_of(page) for page in pages]
    steps = zip(*(folder for folder in folders if folder != WEB), strict=False)
    root = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, steps))
    return [
        Example(folder if folder == WEB else folder[root:], number < len(good), page.counts)
        for number, (folder, page) in enumerate(zip(folders, pages, strict=True))
    ]


def _folder_of(page: Page) -> Path:
    return tuple(page.url.split("/")[:-1]) if page.url.startswith("file:") else WEB
