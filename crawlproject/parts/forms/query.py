"""A query that a source has chosen."""

from __future__ import annotations

from typing import NamedTuple

from crawlproject.parts.forms.value_graph import Value


class Query(NamedTuple):
    """One result page to be fetched: page ``number`` of the list for ``value``, None in the query for a word that nobody uses.

    ``text`` is what is filled in; ``parent`` is the page before it, the first time the page that the form is on.
    """

    url: str
    value: Value | None
    text: str
    parent: str
    number: int = 1
