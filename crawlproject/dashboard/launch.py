"""Starts a crawl from a query and seeds, as a separate process."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.adapters.subcommand import SCRAPY
from crawlproject.errors import BadInput, BadTopic, InvalidUrl, trying_to
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.registry import ORDERINGS, ordering_class
from crawlproject.pages.text.relevance import refuse_wordless
from crawlproject.records import Topic
from crawlproject.topic.edits import Draft, name_for, topic_text
from crawlproject.topic.found_seeds import FoundSeed
from crawlproject.urls.canonical import canonical_url

CONSOLE = "console.log"  # output of the process
TOPIC = "topic.toml"
MOST_PAGES = 1_000_000
MOST_CRAWLS = 8  # crawls started at once
_FIELDS = {"query": "Find pages about", "seeds": "Seeds", "orderings": "Orderings", "pages": "Pages of each crawl"}
_MEANINGS = {
    "adaptive": "learns what links are worth",
    "dom": "the best mix of the page and the words around the link first",
    "infospiders": "agents that learn, have offspring and die; each with its colour, and a family tree",
    "shark_search": "anchor, words around the link, and what the path to it was worth",
    "best_first": "links on the pages most like the keywords first",
    "breadth_first": "links in the order in which they are found; a baseline",
    "best_n_first": "as best_first, but the best few in any order",
    "fish_search": "links near relevant pages; gives up a path that leads to none",
    "hub_seeking": "all links of pages that list good pages",
    "form_focused": "links that may lead to search forms on the topic",
    "keyword_queue": "links with a keyword in their text or URL before all others",
    "local_rank": "links on pages with the keywords first, by PageRank among those",
    "intelligent": "learns from words, URLs and neighbours which links are good",
    "reinforcement": "learns which words of a link lead to relevant pages, also later",
    "tag_path_bandit": "learns where on a page the good links are",
    "tres": "learns by reinforcement which paths lead to relevant pages",
    "qfirst": "links on well-written pages first, on the topic or not",
    "qmin": "as qfirst, but all pages with the link must be well written",
    "search_impact": "pages that would improve what a search for the keywords finds",
    "pagerank": "important pages first, on the topic or not",
    "opic": "important pages first, estimated cheaply",
    "backlink_count": "pages that many pages link to",
    "indegree": "pages that many pages link to, counted at each find",
    "trans_domain_indegree": "pages that many other sites link to",
    "largest_site_first": "the site with the most waiting pages first",
    "near_root": "pages near the home page of their site",
    "location": "short addresses first",
    "random": "any link; a baseline",
}  # one line each, in the order of the form: the default first, then the best known
_TWO = re.compile(r"\s\w+://")  # a second address in a seed
_SAID = 3  # wrong seeds that a message names
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CrawlForm:
    """The form of the dashboard: one crawl per ordering, of ``pages`` pages each."""

    query: str
    seeds: tuple[FoundSeed, ...]  # if empty, the dashboard searches for seeds
    orderings: tuple[str, ...]
    pages: int


def read_form(form: Any) -> CrawlForm:
    """Check the form, with an English query. Raises ``BadInput``, which names the field and what is expected."""
    if not isinstance(form, Mapping):
        raise BadInput("form", "expected an object with query, seeds, orderings and pages")
    query = _CONTROLS.sub(" ", str(form.get("query", ""))).strip()
    orderings = form.get("orderings")
    pages = form.get("pages")
    if not any(map(str.isalnum, query)):
        raise _wrong("query", "say what to look for, for example: coral reefs, bleaching")
    refuse_wordless(Topic("", tuple(query.split(",")), ()), Options(), _FIELDS["query"])
    if not isinstance(orderings, list) or not 0 < len(orderings) <= MOST_CRAWLS:
        raise _wrong("orderings", f"choose 1 to {MOST_CRAWLS}")
    for name in orderings:
        if name not in startable_orderings():
            raise _wrong("orderings", f"there is no ordering {str(name)[:40]!r} that can crawl without an archive")
    if not isinstance(pages, int) or isinstance(pages, bool) or not 0 < pages <= MOST_PAGES:
        raise _wrong("pages", f"expected a number between 1 and {MOST_PAGES:,}")
    seeds = tuple(FoundSeed(url, "", "") for url in _urls(str(form.get("seeds", ""))))
    return CrawlForm(query, seeds, tuple(dict.fromkeys(orderings)), pages)


def _wrong(field: str, wish: str) -> BadInput:
    """An error about a field, which is named as on the form."""
    return BadInput(_FIELDS[field], wish)


def offered_orderings() -> list[tuple[str, str]]:
    """The orderings that can be started, each with a description; the default and the best known first."""
    startable = startable_orderings()
    names = dict.fromkeys((*filter(startable.__contains__, _MEANINGS), *startable))
    return [(name, _MEANINGS.get(name) or _first_line(ordering_class(name))) for name in names]


def _first_line(cls: type[BaseOrdering]) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0].replace("`", "")


def startable_orderings() -> list[str]:
    """The orderings that need neither the targets nor an archive."""
    classes = {name: ordering_class(name) for name in ORDERINGS}
    return [name for name, cls in classes.items() if not cls.needs_targets and not cls.needs_archive]


def prepare(form: CrawlForm, root: Path) -> list[Path]:
    """Create a crawl folder with a topic file below ``root`` for each ordering of the form. Raises ``StorageFailed``."""
    slug = name_for([form.query])
    folders = []
    with trying_to("make a crawl folder in", root):
        for ordering in form.orderings:
            folder = _new_folder(root, f"{slug}.{ordering}")
            text = _topic_text(slug, form, ordering)
            (folder / TOPIC).write_text(text, encoding="utf-8")
            folders.append(folder)
    return folders


def launch(folder: Path, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Start or resume the crawl of the topic file in ``folder``, with these ``settings``.

    The caller has to stop the crawl: it runs in a new session, and so survives this process. Raises ``BadTopic`` if there is
    no topic file, and ``StorageFailed``.
    """
    topic = folder / TOPIC
    if not topic.is_file():
        raise BadTopic(str(topic), "expected the topic file of a crawl that was started from the dashboard")
    chosen = {**settings, "CRAWL_DIR": folder, "DASHBOARD": 1, "DASHBOARD_PORT": 0}
    options = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    command = [*SCRAPY, "crawl", "topical", "-a", f"topic={topic}", *options]
    with trying_to("start a crawl in", folder), (folder / CONSOLE).open("ab") as console:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True
        )


def console_tail(folder: Path, most: int = 400) -> str:
    """The last ``most`` bytes of the output of the process."""
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
    raise FileExistsError(f"{name}: thousands of folders have this name")


def _topic_text(name: str, form: CrawlForm, ordering: str) -> str:
    sources = {seed.url: f"{seed.source}: {seed.title}" for seed in form.seeds if seed.source}
    seeds = [seed.url for seed in form.seeds]
    return topic_text(Draft(name, form.query.split(","), seeds, pages=form.pages, ordering=ordering, sources=sources))


def _urls(typed: str) -> list[str]:
    """The seeds, separated by line breaks or commas; the scheme may be missing (``example.org``). Raises ``BadInput``."""
    found = dict.fromkeys(filter(None, (seed.strip() for seed in re.split(r"[\r\n,]", typed))))
    wrong = []
    for seed in found:
        try:
            canonical_url(_with_scheme(_CONTROLS.sub("", seed)))
        except InvalidUrl as refused:
            wrong.append(f"{seed[:100]!r} is not the address of a page ({refused.why})")
        else:
            if _TWO.search(seed):
                wrong.append(f"{seed[:100]!r} looks like several: write each on a line of its own")
    if wrong:
        raise _wrong("seeds", "; ".join(wrong[:_SAID]))
    return [_with_scheme(_CONTROLS.sub("", seed)) for seed in found]


def _with_scheme(seed: str) -> str:
    return seed if "://" in seed else f"http://{seed}"
