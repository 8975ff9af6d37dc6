"""Interprets the replies of a search server, in particular those to bulk requests."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

_ERROR = 500  # characters of an error message that are kept


class ServerReply(NamedTuple):
    """Status, parsed body (None: not JSON), and the seconds that the server asks to wait."""

    status: int
    found: Any = None
    retry_after: float = 0.0


def is_temporary(status: int) -> bool:
    """Whether the server may accept the same request later, because it is busy or faulty now."""
    return status in (408, 429) or status >= 500


def bulk_results(answer: ServerReply | None, count: int) -> list[tuple[int, str]] | None:
    """Status and error of each of ``count`` documents; None when the reply does not cover all of them."""
    if answer is None or answer.status != 200 or not isinstance(answer.found, dict):
        return None
    try:
        actions = [next(iter(each.values())) for each in answer.found["items"]]
        results = [(int(action["status"]), error_text(action.get("error", ""))) for action in actions]
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return None
    return results if len(results) == count else None


def error_text(found: Any) -> str:
    """The error message of a server, shortened."""
    if isinstance(found, dict):
        inner = found.get("error", found)
        if isinstance(inner, dict) and ("reason" in inner or "type" in inner):
            return f"{inner.get('type', '')}: {inner.get('reason', '')}"[:_ERROR]
        found = inner
    return (found if isinstance(found, str) else orjson.dumps(found, default=str).decode())[:_ERROR]


def refusal_text(answer: ServerReply) -> str:
    if answer.status in (401, 403):
        return (
            f"the server rejects the credentials (HTTP {answer.status}): set them in the URL, or in "
            "OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD, or OPENSEARCH_API_KEY"
        )
    return f"the server rejects the request: HTTP {answer.status} {error_text(answer.found or '')}".rstrip()
