"""Real articles for software that comes without content: sections of manuals in Debian packages, with the links between them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, zip_longest
from pathlib import Path
from urllib.parse import urldefrag

import lxml.html

from benchmarks.served_sites.packages import Packages

PACKAGES = ("debian-handbook", "apache2-doc")
KEYWORDS = ("Debian", "Apache HTTP Server", "configuration", "package")

_ROOTS = ("usr/share/doc/debian-handbook/html/en-US", "usr/share/doc/apache2-doc/manual/en")
_SHORTEST = 3  # paragraphs of an article
_AROUND_TITLE = re.compile(
    r"^(?:(?:Chapter|Appendix) )?[A-Z\d]+(?:\.\d+)*\.\s|\s*[-–] (?:Apache HTTP Server|Servidor HTTP Apache).*$"
)
_CHAPTER = re.compile(r"(?:Chapter |Appendix )?([A-Z\d]+)\.")
_NO_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Article:
    """A section of a manual. ``links`` are the names of articles that it links to."""

    name: str
    title: str
    category: str
    paragraphs: Sequence[str]
    links: Sequence[str]


def articles(packages: Packages, count: int = 150) -> list[Article]:
    """``count`` articles of both manuals in turn; links to any other article are dropped."""
    drafts = _drafts(tuple(packages.unpacked(name) / root for name, root in zip(PACKAGES, _ROOTS, strict=True)))[:count]
    names = {path: article.name for path, article in drafts}
    return [
        Article(
            article.name,
            article.title,
            article.category,
            article.paragraphs,
            [names[link] for link in dict.fromkeys(article.links) if names.get(link, article.name) != article.name],
        )
        for _, article in drafts
    ]


def written(packages: Packages, file: Path, count: int = 150) -> Path:
    """Write ``articles`` to a JSON file, for scripts that run inside the software."""
    file.write_text(json.dumps([asdict(article) for article in articles(packages, count)]))
    return file


@lru_cache
def _drafts(roots: tuple[Path, ...]) -> list[tuple[str, Article]]:
    """Articles by path; their ``links`` are still paths."""
    turns = chain.from_iterable(zip_longest(*(_read(root) for root in roots)))
    found: dict[str, tuple[str, Article]] = {}
    for draft in turns:
        if draft is not None:
            found.setdefault(draft[1].name, draft)
    return list(found.values())


def _read(root: Path) -> Iterator[tuple[str, Article]]:
    for path in sorted(root.rglob("*.html")):
        document = lxml.html.fromstring(path.read_bytes())
        texts = (" ".join(element.text_content().split()) for element in document.xpath('//p | //div[@class="para"]'))
        paragraphs = [text for text in texts if len(text) > 80]
        heading = " ".join((document.findtext(".//title") or "").split())
        title = _AROUND_TITLE.sub("", heading)
        if title and len(paragraphs) >= _SHORTEST:
            links = [str(path.parent.joinpath(_local(link)).resolve()) for link in document.xpath("//a/@href")]
            yield str(path.resolve()), Article(_name(title), title, _category(path, root, heading), paragraphs, links)


def _category(path: Path, root: Path, heading: str) -> str:
    """The chapter of the handbook, or the folder of Apache's manual."""
    chapter = _CHAPTER.match(heading)
    if chapter:
        return f"Chapter {chapter[1]}"
    return "Manual" if path.parent == root else path.parent.name.capitalize()


def _name(title: str) -> str:
    return _NO_NAME.sub("-", title.lower()).strip("-")[:60]


def _local(link: str) -> str:
    return urldefrag(link).url if "://" not in link else ""
