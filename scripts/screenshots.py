"""Draw docs/figures/{dashboard,report,map}.png anew: crawls of the sample web, seen by a headless Chromium.

python scripts/screenshots.py            needs playwright and Chromium (scripts/install-chromium)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import browser, serving, wait_until  # noqa: E402
from support.crawling import scrapy  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
SEEDS = "http://www.lagoon-notes.example/\nhttp://www.nacre-divers.example/\nhttp://www.hobby-ring.example/"
ENDED = "[...document.querySelectorAll('.run .status')].every(e => e.textContent.startsWith('ended'))"


def main() -> None:
    with tempfile.TemporaryDirectory() as name, browser() as chromium:
        crawls = Path(name) / "crawls"
        page = chromium.new_page(viewport={"width": 1100, "height": 1180})
        settings = {"VIRTUAL_WEB": "sample", "POLITENESS_MIN_DELAY": 0.3, "CRAWL_PROGRESS_SECONDS": 0}
        with serving(Path(name), "dashboard", crawls, **settings) as url:
            page.goto(url)
            page.fill("#query", "coral reefs, corals, bleaching, reef fish")
            page.fill("#seeds", SEEDS)
            page.fill("#pages", "300")
            page.set_checked("#orderings input[value=adaptive]", False)
            for ordering in ("infospiders", "best_first", "breadth_first"):
                page.set_checked(f"#orderings input[value={ordering}]", True)
            page.click("#start-button")
            wait_until(page, "document.querySelectorAll('.run').length === 3")
            wait_until(page, ENDED, seconds=120)
            page.fill("#search-query", "bleaching of corals")
            page.click("#search button")
            page.wait_for_selector("#hits li b")
            page.evaluate("document.querySelector('#runs').scrollIntoView()")
            page.screenshot(path=FIGURES / "dashboard.png")
        (folder,) = crawls.glob("*.infospiders")
        for made in (scrapy("report", folder), scrapy("map", folder)):
            print(made.stdout.strip() or made.stderr)
        page.set_viewport_size({"width": 1100, "height": 1000})
        page.goto((folder / "report.html").as_uri())
        page.screenshot(path=FIGURES / "report.png")
        page.set_viewport_size({"width": 1100, "height": 900})
        page.goto((folder / "map.html").as_uri())
        page.fill("#find", "bleaching")
        page.press("#find", "Enter")
        page.fill("#find", "")
        page.wait_for_timeout(400)
        page.screenshot(path=FIGURES / "map.png")


if __name__ == "__main__":
    main()
