"""Best-N-First by keywords and local PageRank (paper 001 sections 4.2 and 7), on three pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.pages import a_context, a_page_of

from crawlproject.orderings.local_rank import LocalRank

S, A, B = (f"http://{name}.example/" for name in "sab")


def test_keywords_come_before_pagerank() -> None:
    """s links to a and b, a to b. IR(s) = 0.1; IR(a) = 0.1 + 0.9 * 0.1 / 2 = 0.145; IR(b) = 0.145 + 0.9 * 0.145 = 0.2755.

    No, one and two of two keywords: (k + r / (1 + r)) / 3.
    """
    ordering = LocalRank(a_context("coral reef"), growth=0.0)
    assert ordering.commit == 256
    pages = [
        replace(a_page_of((A, ""), (B, ""), text="train"), url=S),
        replace(a_page_of((B, ""), text="reef"), url=A),
        replace(a_page_of((S, ""), text="coral reef"), url=B),
    ]
    found = []
    for page in pages[:2]:
        ordering.observe(page)
        found.append(ordering.score(page, page.links[0]))
    found.append(ordering.score(pages[2], pages[2].links[0]))
    assert found == pytest.approx([(0.1 / 1.1) / 3, (1 + 0.145 / 1.145) / 3, (2 + 0.2755 / 1.2755) / 3], abs=1e-4)
