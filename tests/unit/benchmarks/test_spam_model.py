"""The benchmark of the spam classifier: the choice of labelled pages."""

from __future__ import annotations

from itertools import groupby, islice

from benchmarks.hostile_web import HostileWeb
from benchmarks.spam_model import HONEST, SPAM, bodies, line, model_of, read


def test_as_many_honest_pages_as_spam_and_spam_only_of_spam_sites() -> None:
    web = HostileWeb(good=40, kinds=("stuffed", "calendar", "link_farm"))
    found = list(bodies(web, 2))
    kinds = [kind for kind, _ in groupby(sorted(kind for kind, _, _ in found))]
    assert kinds == [HONEST, "link_farm", "stuffed"] and set(kinds) - {HONEST} <= set(SPAM)
    assert sum(kind == HONEST for kind, _, _ in found) * 2 == len(found)
    examples = read(islice(found, 0, None, 2))
    row = line("all", model_of(examples), examples).split()
    assert row[0] == "all" and len(row) == 6 and 0.9 < float(row[4]) <= 1
