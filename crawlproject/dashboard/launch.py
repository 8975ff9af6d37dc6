"""Start a crawl from a query and seeds, as a process of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.adapters.subcommand import SCRAPY
from crawlproject.errors import BadInput, BadTopic, StorageFailed
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.registry import ORDERINGS, ordering_class
from crawlproject.topic.edits import Draft, name_for, topic_text
from crawlproject.topic.found_seeds import FoundSeed
from crawlproject.topic.parse import parse_topic

CONSOLE = "console.log"  # what the process prints
TOPIC = "topic.toml"
MOST_PAGES = 1_000_000
MOST_CRAWLS = 8  # started at once
_COMMON = {
    "adaptive": "the default: learns what links are worth",
    "dom": "the best mix of the page and the words around the link first",
    "infospiders": "agents that learn, have offspring and die; each with its colour, and a family tree",
    "shark_search": "anchor, words around the link, and what the path to it was worth",
    "best_first": "links on the pages most like the keywords first",
    "breadth_first": "links in the order in which they are found; a baseline",
}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CrawlForm:
    """The form of the dashboard: one crawl per ordering, of ``pages`` pages each."""

    query: str
    seeds: tuple[FoundSeed, ...]  # none: they are to be found
    orderings: tuple[str, ...]
    pages: int


def read_form(form: Any) -> CrawlForm:
    """The form, checked. Raises ``BadInput``, which names the field and what is expected."""
    if not isinstance(form, Mapping):
        raise BadInput("form", "expected an object with query, seeds, orderings and pages")
    query = _CONTROLS.sub(" ", str(form.get("query", ""))).strip()
    typed = _CONTROLS.sub(" ", str(form.get("seeds", "")))
    seeds = tuple(FoundSeed(url, "", "") for url in dict.fromkeys(_urls(re.split(r"[\s,]+", typed))))
    orderings = form.get("orderings")
    pages = form.get("pages")
    if not any(map(str.isalnum, query)):
        raise BadInput("query", "say what to look for, for example: coral reefs, bleaching")
    if not isinstance(orderings, list) or not 0 < len(orderings) <= MOST_CRAWLS:
        raise BadInput("orderings", f"choose 1 to {MOST_CRAWLS}")
    for name in orderings:
        if name not in startable_orderings():
            raise BadInput("orderings", f"there is no ordering {str(name)[:40]!r} that can crawl without an archive")
    if not isinstance(pages, int) or isinstance(pages, bool) or not 0 < pages <= MOST_PAGES:
        raise BadInput("pages", f"expected a number between 1 and {MOST_PAGES:,}")
    checked = CrawlForm(query, seeds, tuple(dict.fromkeys(orderings)), pages)
    if seeds:
        parse_topic(_topic_text("query", checked, orderings[0]), "topic")  # raises BadInput for wrong seeds
    return checked


def offered_orderings() -> list[tuple[str, str]]:
    """The orderings that can be started, each with what it does, the default and the best known first."""
    names = dict.fromkeys((*_COMMON, *startable_orderings()))
    return [(name, _COMMON.get(name) or _first_line(ordering_class(name))) for name in names]


def _first_line(cls: type[BaseOrdering]) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0].replace("`", "")


def startable_orderings() -> list[str]:
    """The orderings that need neither the answer nor an archive."""
    classes = {name: ordering_class(name) for name in ORDERINGS}
    return [name for name, cls in classes.items() if not cls.needs_targets and not cls.needs_archive]


def prepare(form: CrawlForm, root: Path) -> list[Path]:
    """A new crawl folder with a topic file for each ordering of the form, below ``root``. Raises ``StorageFailed``."""
    slug = name_for([form.query])
    folders = []
    try:
        for ordering in form.orderings:
            folder = _new_folder(root, f"{slug}.{ordering}")
            text = _topic_text(slug, form, ordering)
            (folder / TOPIC).write_text(text, encoding="utf-8")
            folders.append(folder)
    except OSError as error:
        raise StorageFailed(f"cannot make a crawl folder in {root}: {error}") from error
    return folders


def launch(folder: Path, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Start or resume the crawl of the topic file in ``folder``. Raises ``BadTopic`` when there is none.

    ``settings`` of the command line go to every crawl. The crawl ends with this process, unless that is killed.
    """
    topic = folder / TOPIC
    if not topic.is_file():
        raise BadTopic(str(topic), "expected the topic file of a crawl that was started from the dashboard")
    chosen = {**settings, "CRAWL_DIR": folder, "DASHBOARD": 1, "DASHBOARD_PORT": 0}
    options = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    command = [*SCRAPY, "crawl", "topical", "-a", f"topic={topic}", *options]
    try:
        with (folder / CONSOLE).open("ab") as console:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True
            )
    except OSError as error:
        raise StorageFailed(f"cannot start a crawl in {folder}: {error}") from error


def console_tail(folder: Path, most: int = 400) -> str:
    """The last ``most`` bytes that the process printed."""
    try:
        with (folder / CONSOLE).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - most))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _new_folder(root: Path, name: str) -> Path:
    for number in range(1, 10_000):
        folder = root / (name if number == 1 else f"{name}.{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{name}: there are thousands")


def _topic_text(name: str, form: CrawlForm, ordering: str) -> str:
    sources = {seed.url: f"{seed.source}: {seed.title}" for seed in form.seeds if seed.source}
    seeds = [seed.url for seed in form.seeds]
    return topic_text(Draft(name, form.query.split(","), seeds, pages=form.pages, ordering=ordering, sources=sources))


def _urls(seeds: Iterable[str]) -> list[str]:
    """``example.org`` is what people type."""
    return [seed if "://" in seed else f"http://{seed}" for seed in seeds if seed]
