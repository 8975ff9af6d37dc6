"""Hand-made crawl folders, for tests of what follows a crawl."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import md5
from pathlib import Path
from typing import Any

import orjson

from crawlproject.records import Topic
from crawlproject.storage.manifest import Manifest


def an_item(number: int, text: str, **fields: Any) -> dict[str, Any]:
    url = f"http://a.example/{number}"
    item = {
        **{
            "url": url,
            "title": f"Page {number}",
            "text": text,
            "text_main": "",
            "language": "en",
            "relevance": 0.0,
            "score": 0.0,
            "depth": 0,
        },
        **{"parent": None, "anchor": "", "context_score": 0.0, "status": 200, "at": 1_000.0 + number, "published": ""},
        **{
            "md5": md5(url.encode()).hexdigest(),
            "author": "",
            "license": "",
            "reserved": "",
            "parts": {},
            "duplicate_of": "",
            "replaces": "",
            "spam": 0.0,
            "digest": "",
        },
    }
    return {**item, "content_type": "", "rendered": False, "topics": {}, "version": 1, "state": "", **fields}


def a_crawl(folder: Path, *items: Mapping[str, Any], language: str = "en") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    Manifest(folder, Topic("t", ("coral",), ("http://a.example/",), language=language), "dom", {}).begin({}, "", 0.0)
    add(folder, *items)
    return folder


def add(folder: Path, *items: Mapping[str, Any]) -> None:
    with (folder / "items.jsonl").open("ab") as file:
        file.writelines(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE) for item in items)
