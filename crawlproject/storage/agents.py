"""``agents.json``: the agents of an ordering that has several, as they were when the crawl ended last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from crawlproject.storage.append_log import unexpected, write_atomically

NAME = "agents.json"


def write_agents(folder: Path, agents: Sequence[Mapping[str, Any]]) -> None:
    """Replace the file. Raises ``StorageFailed``."""
    write_atomically(folder / NAME, [orjson.dumps(agents, option=orjson.OPT_INDENT_2)])


def read_agents(folder: Path) -> list[dict[str, Any]]:
    """The agents; none without a file. Raises ``BadCrawlDir``."""
    path = folder / NAME
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, orjson.JSONDecodeError) as damage:
        raise unexpected(path, None, damage) from None
    if not isinstance(found, list) or not all(isinstance(agent, dict) for agent in found):
        raise unexpected(path, None, TypeError("a list of objects is expected"))
    return found
