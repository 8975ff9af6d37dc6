"""The benefit of splitting truncated result lists, by a second field and by ranges of numbers.

    python benchmarks/form_refinement.py [--limit 400] [--seed 1]

Sites with several fields whose lists end after 100 results are queried by ``relevant_new`` with and without narrower queries.
These are not the sites of ``parts/forms.py``. A fetch is a result page of ten items.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/form_refinement.py`

from benchmarks.deep_web import RELEVANT, Lab, at
from benchmarks.deep_web_sites import DeepSite, Kind

CAP = 100
MARKS = (50, 100, 200, 400)
PLAN: tuple[tuple[Kind, int], ...] = (
    ("priced", 3_000), ("priced", 10_000), ("advanced", 3_000), ("advanced", 10_000), ("books", 3_000), ("books", 10_000),
    ("listing", 3_000), ("listing", 10_000),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    lab = Lab()
    print("| site | items | counted | one field | narrower, too | not queries |\n| --- | --- | --- | --- | --- | --- |")
    for kind, size in PLAN:
        site = DeepSite(f"{kind}-{size}-{given.seed}.example", kind, size, cap=CAP, pure=kind == "books")
        for relevant in (0.0, RELEVANT):
            shown = []
            for refines in (False, True):
                source = lab.source(site, "relevant_new", relevant=relevant, limit=given.limit, patience=30)
                assert source is not None
                source.refines = refines
                curve = [found[bool(relevant)] for found in lab.run(source, site)]
                shown.append(" ".join(f"{at(curve, mark):,}" for mark in MARKS if mark <= given.limit))
            total = len(site.relevant) if relevant else size
            name = "on the topic" if relevant else "all"
            print(f"| {kind} | {total:,} | {name} | {' | '.join(shown)} | {sum(site.asked.values())} |", flush=True)


if __name__ == "__main__":
    main()
