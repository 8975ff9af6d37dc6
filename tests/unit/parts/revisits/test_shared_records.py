"""What is attached to the next visit of a page, where its text was known to nobody."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from crawlproject.core.peers import Peers
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.shared_records import SharedCollection, SharedPage
from crawlproject.parts.revisits.text_difference import estimated_novelty, sketch_of
from crawlproject.records import PAGE

URL, TEXT = "http://a.test/", "corals build reefs where the water is clear and warm"


def test_a_text_that_only_a_dead_worker_knew_is_compared_from_the_next_visit_on(tmp_path: Path) -> None:
    said: list[Any] = []
    peers = SimpleNamespace(attach=lambda key, part, message, number: said.append(message))
    shared = SharedCollection("b", tmp_path / "b", cast(Peers, peers))
    page = CollectedPage(0, URL, 1, PAGE, 1, 1, 5.0, 5.0, 0.5, "", "", "")
    shared.was_attached(SharedPage.of(page, "dead", ""))

    first = shared.attached(URL)
    assert first is not None and shared.text_before(first, bytes.decode) == (None, None)
    shared.text_is(first, TEXT)
    shared.attach(page)  # the visit ends, and has shown nothing new

    _, *values = said.pop()
    shared.was_attached(SharedPage.checked(*values))
    second = shared.attached(URL)
    assert second is not None and second.holder == "dead"
    stored, sketch = shared.text_before(second, bytes.decode)
    assert stored is None and sketch == sketch_of(TEXT)
    assert estimated_novelty(sketch, sketch_of("trains cross the bridge at night without a sound")) > 0.5
