"""The full-text index of a crawl folder on disk: its fields, the analysis of their text into terms, and its progress.

index/state.json     what is indexed, and up to which line of items.jsonl
index/pages/         Tantivy's files
index/vectors/       the vectors of ``vectors.py``, if there are any
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import tantivy

from crawlproject.configuration import program
from crawlproject.errors import BadCrawlDir, StorageFailed, trying_to
from crawlproject.pages.text.languages import is_unspaced
from crawlproject.storage.append_log import ITEMS, START, TailPosition, unreadable, write_atomically
from crawlproject.storage.manifest import read_manifest

FOLDER = "index"
VERSION = 1  # increase it when fields or terms change, so that older indexes are rebuilt

TITLE, ANCHOR, TEXT = "title", "anchor", "text"
BOOSTS = {TITLE: 3.0, ANCHOR: 2.0, TEXT: 1.0}  # weight of a match in each field
RELEVANCE_WEIGHT = 6.0  # the score of a page of relevance r is multiplied by log2(2 + 6 r): 1 at 0, 2 at 1/3, 3 at 1

_TERMS = "page"
_MAX_TERM = 60  # characters; longer terms are not words
_STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nb": "norwegian", "nl": "dutch",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG  # numbers that occur in Tantivy's messages
_LOCK = "Lockfile"  # occurs in Tantivy's message if it cannot lock the folder


@dataclass(frozen=True, slots=True)
class IndexState:
    """The content of ``state.json``: language of the terms, whether duplicates are indexed, page count, place in the items."""

    language: str
    with_duplicates: bool = False
    pages: int = 0
    place: TailPosition = START

    def after(self, pages: int, place: TailPosition) -> IndexState:
        return replace(self, pages=pages, place=place)


def analyzer(language: str) -> tantivy.TextAnalyzer:
    """Return the analyzer that turns text into terms: lower case, stemmed if the language has a stemmer, without accents.

    Languages without spaces are indexed by single characters and character pairs.
    """
    if is_unspaced(language):
        pairs = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(1, 2, False))
        return pairs.filter(tantivy.Filter.lowercase()).build()
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_MAX_TERM)).filter(tantivy.Filter.lowercase())
    if language == "en":  # accents occur in foreign words only: without them the stemmer knows more words
        builder = builder.filter(tantivy.Filter.ascii_fold())
    if language in _STEMMERS:
        builder = builder.filter(tantivy.Filter.stemmer(_STEMMERS[language]))
    return builder.filter(tantivy.Filter.ascii_fold()).build()


def open_store(crawl_dir: Path, state: IndexState) -> tantivy.Index:
    """Open Tantivy's index of a crawl folder, created if there is none. Raises ``BadCrawlDir`` and ``StorageFailed``."""
    folder = crawl_dir / FOLDER / "pages"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(_schema(), str(folder))
    except OSError as error:
        raise StorageFailed(f"cannot open the index in {folder}: {error}") from error
    except ValueError as damage:
        if any(f"(os error {number})" in str(damage) for number in _FULL):
            raise StorageFailed(f"cannot write the index in {folder}: {damage}") from None
        if _LOCK in str(damage):
            raise StorageFailed(f"cannot write the index in {folder} ({damage}); is the folder read-only?") from None
        raise damaged(crawl_dir, damage) from None
    index.register_tokenizer(_TERMS, analyzer(state.language))
    return index


def open_to_search(crawl_dir: Path, state: IndexState) -> tuple[tantivy.Index, tempfile.TemporaryDirectory[str] | None]:
    """Return the index and, for a read-only folder, a temporary folder that must live as long as the index.

    Tantivy locks a file of the folder even to read. A read-only index is opened through links in the temporary folder.
    Raises like ``open_store``.
    """
    folder = crawl_dir / FOLDER / "pages"
    try:
        return open_store(crawl_dir, state), None
    except StorageFailed as refused:
        if _LOCK not in str(refused):
            raise
    try:
        elsewhere = tempfile.TemporaryDirectory(prefix="index-")
        for path in folder.resolve().iterdir():
            if path.suffix != ".lock":
                (Path(elsewhere.name) / path.name).symlink_to(path)
        index = tantivy.Index.open(elsewhere.name)
    except OSError as error:
        wish = f"read-only, and no temporary folder can be used instead: {error}"
        raise BadCrawlDir(str(crawl_dir / FOLDER), wish) from None
    except ValueError as damage:
        raise damaged(crawl_dir, damage) from None
    index.register_tokenizer(_TERMS, analyzer(state.language))
    return index, elsewhere


def read_state(crawl_dir: Path) -> IndexState | None:
    """Return the state of the index; None if there is none, or it has another version. Raises ``BadCrawlDir``."""
    try:
        found = orjson.loads((crawl_dir / FOLDER / "state.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as damage:
        raise damaged(crawl_dir, damage) from None
    if not isinstance(found, Mapping) or found.get("version") != VERSION:
        return None
    try:
        pages, language = int(found["pages"]), str(found["language"])
        return IndexState(language, bool(found["with_duplicates"]), pages, TailPosition.from_json(found["place"]))
    except (KeyError, TypeError, ValueError) as damage:
        raise damaged(crawl_dir, damage) from None


def is_behind(crawl_dir: Path) -> bool:
    """Whether the crawl has stored pages that are not indexed yet. Raises ``BadCrawlDir``."""
    state, items = read_state(crawl_dir), crawl_dir / ITEMS
    return items.exists() and items.stat().st_size > (state.place.offset if state else 0)


def write_state(crawl_dir: Path, state: IndexState) -> None:
    """Write ``state.json``. Raises ``StorageFailed``."""
    found: dict[str, Any] = {
        "version": VERSION,
        "language": state.language,
        "with_duplicates": state.with_duplicates,
        "pages": state.pages,
        "place": state.place.as_json(),
    }
    write_atomically(crawl_dir / FOLDER / "state.json", [orjson.dumps(found, option=orjson.OPT_INDENT_2)])


def new_state(crawl_dir: Path, with_duplicates: bool) -> IndexState:
    """Return the state of an empty index in the language of the crawl's topic. Raises ``BadCrawlDir``."""
    manifest = read_manifest(crawl_dir)
    if not manifest:
        raise BadCrawlDir(str(crawl_dir), "expected a crawl folder, but it has no crawl.json")
    return IndexState(str(manifest["topic"].get("language") or "en"), with_duplicates)


def remove(crawl_dir: Path) -> None:
    """Remove the index, but not the vectors, which are expensive. Raises ``StorageFailed``."""
    path = crawl_dir / FOLDER / "state.json"
    with trying_to("remove", path):
        path.unlink(missing_ok=True)
    remove_folder(crawl_dir / FOLDER / "pages")


def remove_folder(folder: Path) -> None:
    """Remove a folder, if it exists. Raises ``StorageFailed``."""
    for last in (*[False] * 20, True):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            if last or error.errno != errno.ENOTEMPTY:
                raise StorageFailed(f"cannot remove {folder}: {error}") from error
            time.sleep(0.05)  # a thread of Tantivy has just written there


def damaged(crawl_dir: Path, damage: Exception) -> BadCrawlDir:
    """Return the error for an index that cannot be read."""
    if isinstance(damage, PermissionError):
        return unreadable(crawl_dir / FOLDER, damage)
    return BadCrawlDir(
        str(crawl_dir / FOLDER), f"the index cannot be read ({damage}); {program} index --rebuild creates a new one"
    )


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(TITLE, stored=True, tokenizer_name=_TERMS)
    builder.add_text_field(ANCHOR, tokenizer_name=_TERMS)
    builder.add_text_field(TEXT, stored=True, tokenizer_name=_TERMS)
    for name in ("url", "md5", "language", "published"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_float_field("relevance", stored=True, indexed=True)
    builder.add_float_field("weight", fast=True)
    builder.add_float_field("at", stored=True)
    return builder.build()
