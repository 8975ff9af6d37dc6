"""Turns the pages that a person has judged in a crawl into examples of its topic: files next to the topic file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crawlproject.errors import BadInput, trying_to
from crawlproject.parts.judgments.judgments import NAME, last_judgments
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.page_files import PageRepository
from crawlproject.storage.read import read_visits
from crawlproject.topic.edits import with_examples
from crawlproject.topic.parse import load_topic, parse_topic
from crawlproject.urls.hosts import page_name

FOLDERS = {"positive": "relevant", "negative": "not-relevant"}
ENDINGS = (".html", ".txt")


@dataclass(frozen=True, slots=True)
class ExamplesKept:
    """How many pages are examples now, including those of other crawls; ``lost`` are URLs whose page is no longer stored."""

    relevant: int
    irrelevant: int
    lost: tuple[str, ...]


def keep_examples(topic: Path, crawl: Path) -> ExamplesKept:
    """Copy the pages judged in the folder ``crawl`` to ``<topic>.examples/relevant`` and ``not-relevant``, and list these two
    folders in the topic file. A page whose judgment has changed is moved, or removed if it is no longer stored; one whose
    judgment was withdrawn is removed.

    Raises ``BadInput`` for a wrong topic file or a crawl without judgments, and ``StorageFailed``.
    """
    load_topic(topic)
    judged = last_judgments(crawl)
    if not judged:
        raise BadInput(str(crawl), f"has no {NAME}: none of its pages was judged yet")
    types = {visit.url: visit.content_type for visit in read_visits(crawl) if visit.url in judged and visit.md5}
    place = topic.with_name(f"{topic.name.removesuffix('.toml')}.examples")
    pages, lost = PageRepository(crawl / "pages"), []
    for url, relevant in judged.items():
        files = {
            key: [place / name / f"{page_name(url)}{ending}" for ending in ENDINGS] for key, name in FOLDERS.items()
        }
        own = [] if relevant is None else files["positive" if relevant else "negative"]
        try:
            if own:
                now = own[types.get(url, "").startswith("text/plain")]
                write_atomically(now, [pages.load(url)], sync=False)
                own = [now]
        except FileNotFoundError:
            lost.append(url)
        for path in (*files["positive"], *files["negative"]):
            if path not in own:
                with trying_to("remove", path):
                    path.unlink(missing_ok=True)
    counts = {key: sum(path.suffix in ENDINGS for path in (place / name).glob("*")) for key, name in FOLDERS.items()}
    wanted = {key: (f"{place.name}/{name}", counts[key] > 0) for key, name in FOLDERS.items()}
    text = topic.read_bytes().decode("utf-8-sig")
    new = with_examples(text, str(topic), wanted)
    parse_topic(new, str(topic), folder=topic.parent)
    if new != text:
        write_atomically(topic, [new.encode()])
    return ExamplesKept(counts["positive"], counts["negative"], tuple(lost))
