"""Makes topics from a web directory, as papers 001 (section 2.1) and 003 (section 3) did from the Open Directory.

A dump is RDF (``content.rdf.u8`` of the Open Directory), OPML, or JSON: categories ``{"name", "links", "children"}``, whose
links are URLs or ``{"url", "title", "description"}``. It may be compressed with gzip.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import IO, Any, NamedTuple, cast
from xml.etree import ElementTree

from crawlproject.errors import BadInput, InvalidUrl
from crawlproject.topic.edits import Draft
from crawlproject.urls.canonical import canonical_url

_TOKENS = re.compile(r"[^\W_]+")
_ROOT = "Top"  # name of the root category of the Open Directory


class DirectoryEntry(NamedTuple):
    """A page in a directory: the path of its category from the root, its URL, and the editors' title and description."""

    category: tuple[str, ...]
    url: str
    text: str = ""


def read_directory(path: Path) -> Iterator[DirectoryEntry]:
    """Yield the pages of a dump, in its order. Raises ``BadInput`` if the file is not a dump."""
    try:
        with _opened(path) as file:
            is_json = file.read(1) in b"[{"
        with _opened(path) as file:
            yield from _json(file) if is_json else _xml(file)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(str(path), f"cannot be read: {error}") from None
    except RecursionError:
        raise BadInput(str(path), "expected a directory in RDF, OPML or JSON: nested too deep") from None
    except (ElementTree.ParseError, AttributeError, LookupError, TypeError, ValueError) as damage:
        raise BadInput(str(path), f"expected a directory in RDF, OPML or JSON: {damage}") from None


def categories(
    listings: Iterable[DirectoryEntry],
    *,
    ending: Collection[str] = (),
    without: Collection[str] = (),
    least: int = 21,
    leaves: bool = False,
) -> dict[tuple[str, ...], list[DirectoryEntry]]:
    """Group the listings by category. Keep categories with at least ``least`` distinct URLs; URLs become canonical.

    ``ending``: only categories whose last name ends with one of these words (003: Companies, Consultants, Manufacturers).
    ``without``: no categories with one of these names in the path (003: Regional, World, International). ``leaves``: no
    categories with pages in categories below them (001 section 2.1: leaves with five links or more). Categories without a
    word in their names, and URLs that are not http or https, are left out.
    """
    found: dict[tuple[str, ...], dict[str, DirectoryEntry]] = {}
    parents: set[tuple[str, ...]] = set()
    for listing in listings:
        path = listing.category
        if leaves:
            parents.update(path[:depth] for depth in range(1, len(path)))
        if not _keywords(path) or (ending and not path[-1].endswith(tuple(ending))) or set(without).intersection(path):
            continue
        try:
            url = canonical_url(listing.url)
        except InvalidUrl:
            continue
        found.setdefault(path, {}).setdefault(url, listing._replace(url=url))
    return {path: list(pages.values()) for path, pages in found.items() if len(pages) >= least and path not in parents}


def topic_of(category: Sequence[str], listings: Sequence[DirectoryEntry], random: Random, *, seeds: int = 10) -> Draft:
    """The topic of a category. ``seeds`` of its pages, drawn at random, are the seeds; the other pages are the targets.

    The keywords are the names on the path, without the most general one. The description joins the texts of the editors.
    """
    keywords = _keywords(category)
    drawn = set(random.sample([listing.url for listing in listings], min(seeds, len(listings))))
    return Draft(
        "-".join(keywords).lower().replace(" ", "-")[-80:].strip("-"),
        keywords,
        [listing.url for listing in listings if listing.url in drawn],
        description=" ".join(listing.text for listing in listings if listing.text),
        targets=[listing.url for listing in listings if listing.url not in drawn],
    )


def _keywords(category: Sequence[str]) -> list[str]:
    names = [" ".join(_TOKENS.findall(name)) for name in category if name != _ROOT]
    return list(dict.fromkeys(filter(None, names[1:] or names)))


def name_apart(name: str, taken: set[str]) -> str:
    """``name``, with a number if it is in ``taken``, since categories may share a name. The result is added to ``taken``."""
    numbered = (f"{name}-{number}" for number in count(2))
    found = next(each for each in chain([name], numbered) if each not in taken)
    taken.add(found)
    return found


def neighbours(
    examples: Collection[str],
    sources: Mapping[str, Collection[str]],
    random: Random,
    *,
    distance: int = 2,
    most: int = 10,
    exactly: bool = False,
) -> list[str]:
    """Up to ``most`` random pages that lead to an example in at most ``distance`` links (001 section 2.1: 2).

    ``sources`` are the pages that link to each URL. ``exactly``: only pages with a path of exactly ``distance`` links, as in
    the paper, which draws from the in-links of in-links.
    """
    reached, layer = set(examples), set(examples)
    for _ in range(distance):
        layer = {source for url in layer for source in sources.get(url, ())}
        reached |= layer
    around = sorted((layer if exactly else reached).difference(examples))
    return sorted(random.sample(around, min(most, len(around))))


def _opened(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _json(file: IO[bytes]) -> Iterator[DirectoryEntry]:
    document = json.load(file)
    for category in document if isinstance(document, list) else [document]:
        yield from _of_category(category, ())


def _of_category(category: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[DirectoryEntry]:
    path = (*above, str(category["name"]))
    for link in category.get("links", ()):
        fields = {"url": link} if isinstance(link, str) else link
        yield DirectoryEntry(path, str(fields["url"]), _text(fields.get("title"), fields.get("description")))
    for child in category.get("children", ()):
        yield from _of_category(child, path)


def _xml(file: IO[bytes]) -> Iterator[DirectoryEntry]:
    """Read RDF or OPML incrementally, as the dump of the Open Directory does not fit into memory."""
    path: list[str] = []
    root: ElementTree.Element | None = None
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        name = _local(element.tag)
        root = element if root is None else root
        if name == "outline":
            if event == "start":
                path.append(element.get("text") or element.get("title") or "")
                continue
            own = path.pop()
            if url := element.get("htmlUrl") or element.get("url") or element.get("xmlUrl"):
                yield DirectoryEntry(tuple(path), url, _text(own, element.get("description")))
        elif name == "ExternalPage" and event == "end":
            below = {_local(child.tag): child.text or "" for child in element}
            url = next((value for key, value in element.attrib.items() if _local(key) == "about"), "")
            yield DirectoryEntry(
                tuple(below.get("topic", "").split("/")), url, _text(below.get("Title"), below.get("Description"))
            )
        if event == "end" and name in ("ExternalPage", "Topic"):
            root.clear()


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2]


def _text(*parts: object) -> str:
    return " ".join(" ".join(str(part).split()) for part in parts if part)
