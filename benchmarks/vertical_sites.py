"""Generated forums, blogs, news sites and shops with known units: which of them are found, and which fetches are wasted.

    python benchmarks/vertical_sites.py [--pages 120] [--layouts b c]

The sites are in ``vertical_web.py``. Rules and limits were developed on layout ``a``; one rule for blogs was corrected with
``b`` and ``c`` in view. A unit is found when one item of the export, of this page, has its text and that of no other unit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/vertical_sites.py`

from benchmarks.page_series import crawl
from benchmarks.vertical_web import CONTENT, KINDS, LAYOUTS, WASTED, Site, write
from crawlproject.storage.read import read_visits

SETTINGS: tuple[tuple[str, dict[str, object]], ...] = (
    ("neither", {"TRAP_REDUNDANT": "never"}),
    ("series", {"CRAWL_SERIES": 40, "TRAP_REDUNDANT": "never"}),
    ("series, learned", {"CRAWL_SERIES": 40}),
)
SECONDS = 15  # of a crawl: URLs that wait longer, such as audits of learned rules, are not fetched


def units_found(site: Site, folder: Path, out: Path) -> tuple[int, int, int]:
    """Numbers of units on the fetched pages, of units found, and of items that do not match exactly one unit."""
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "export",
        str(folder),
        str(out),
        "--to",
        "jsonl",
        "--split-units",
        "--with-duplicates",
    ]
    subprocess.run(command, check=True, cwd=Path(__file__).resolve().parents[1], stdout=subprocess.DEVNULL)
    truth = found = wrong = 0
    items: dict[str, list[str]] = {}
    for line in out.read_text().splitlines():
        item = json.loads(line)
        if item["unit"]:
            items.setdefault(item["url"], []).append(f"{item['title']}\n{item['text']}")
    for visit in read_visits(folder):
        if not visit.md5 or site.kind_of(visit.url) == WASTED:
            continue
        keys = site.units.get(visit.url) or site.units.get(visit.url.rstrip("/"), [])
        truth += len(keys)
        holds = [[key for key in keys if key in text] for text in items.get(visit.url, [])]
        found += len({keys[0] for keys in holds if len(keys) == 1})
        if site.kind_of(visit.url) == CONTENT:
            wrong += sum(len(keys) != 1 for keys in holds)
    return truth, found, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sites = {(kind, layout): Site(kind, layout, given.seed) for kind in given.kinds for layout in given.layouts}
    print(
        "| site | settings | fetches | content, of | wasted | units, of | wrong |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as place:
        web = Path(place) / "web"
        write(sites.values(), web)
        for (kind, layout), site in sites.items():
            most = sum(known == CONTENT for known in site.kinds.values())
            for number, (name, settings) in enumerate(SETTINGS):
                folder = Path(place) / f"{kind}-{layout}-{number}"
                crawl(
                    web, folder, site.host.removesuffix(".example"), given.pages, CRAWL_MAX_SECONDS=SECONDS, **settings
                )
                visits = [visit for visit in read_visits(folder) if visit.md5]
                kinds = [site.kind_of(visit.url) for visit in visits]
                row = f"| {kind} {layout} | {name} | {len(visits)} | {kinds.count(CONTENT)}, {most} | {kinds.count(WASTED)} |"
                if number == len(SETTINGS) - 1:
                    truth, found, wrong = units_found(site, folder, folder.with_suffix(".jsonl"))
                    row += f" {found}, {truth} | {wrong} |"
                else:
                    row += " | |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
