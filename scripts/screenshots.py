"""Redraw docs/figures/{report,dashboard,map,companion}.png: crawls of the sample web, seen by a headless Chromium.

python scripts/screenshots.py [report] [dashboard] [companion]     needs playwright and Chromium (scripts/install-chromium)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import browser, serving, wait_until  # noqa: E402
from support.crawling import scrapy  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
SEEDS = "http://www.lagoon-notes.example/\nhttp://www.nacre-divers.example/\nhttp://www.hobby-ring.example/"
ENDED = "[...document.querySelectorAll('.run .status')].every(e => e.textContent.startsWith('ended'))"

# The charts move up to the numbers: the question and the best pages between them are hidden.
EXCERPT = """() => {
    for (let e = document.querySelector('#asked'); e.id !== 'curves'; e = e.nextElementSibling) e.style.display = 'none';
}"""

# The temporary folder gets the name that ``make crawl`` uses.
CALLED = """([folder, name]) => {
    for (const e of document.querySelectorAll('code')) e.textContent = e.textContent.replaceAll(folder, name);
}"""


def draw_report(page: Any, folder: Path) -> None:
    """Draw the crawl of ``make crawl``: excerpts of its report, and its map."""
    crawl = folder / "demo"
    demo = ("topic=topics/demo.toml", "-s", "VIRTUAL_WEB=sample", "-s", f"CRAWL_DIR={crawl}")
    for made in (scrapy("crawl", "topical", "-a", *demo), scrapy("map", crawl)):
        print(made.stdout.strip() or made.stderr)
    page.set_viewport_size({"width": 1000, "height": 1095})
    page.goto((crawl / "report.html").as_uri())
    page.evaluate(EXCERPT)
    page.evaluate(CALLED, [str(crawl), "crawls/demo"])
    page.screenshot(path=FIGURES / "report.png")
    page.set_viewport_size({"width": 860, "height": 620})
    page.goto((crawl / "map.html").as_uri())
    page.get_by_text("all links").click()
    page.wait_for_timeout(400)
    page.screenshot(path=FIGURES / "map.png")


def draw_dashboard(page: Any, folder: Path) -> None:
    """Draw three finished crawls of one query, side by side."""
    settings = {"VIRTUAL_WEB": "sample", "POLITENESS_MIN_DELAY": 0.3, "CRAWL_PROGRESS_SECONDS": 0}
    page.set_viewport_size({"width": 1000, "height": 900})
    with serving(folder, "dashboard", folder / "crawls", **settings) as url:
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


def draw_companion(page: Any, folder: Path) -> None:
    """Draw the panel after two articles were read."""
    settings = {"VIRTUAL_WEB": "sample", "POLITENESS_MIN_DELAY": 0.05, "COMPANION_DIR": folder / "me"}
    articles = "http://www.nacre-divers.example/articles"
    page.set_viewport_size({"width": 400, "height": 760})
    with serving(folder, "companion", printed="Companion: ", **settings) as address:
        base, _, token = address.partition("/#")

        def tell(path: str, **body: Any) -> None:
            page.request.post(f"{base}/api/{path}", data=body, headers={"X-Companion-Token": token})

        for name in ("a-day-spent-on-coral-polyps", "what-we-know-about-reef-building-corals"):
            tell("page", url=f"{articles}/{name}.htm", title=name, seconds=60)
            page.wait_for_timeout(3000)
            page.request.get(f"{base}/api/panel", headers={"X-Companion-Token": token})
        tell("page", url="http://www.nacre-divers.example/", title="Nacre Divers")
        page.goto(address)
        wait_until(page, "document.querySelectorAll('#suggestions li').length > 3")
        page.wait_for_timeout(3000)
        page.screenshot(path=FIGURES / "companion.png")


def main() -> None:
    drawings = {"report": draw_report, "dashboard": draw_dashboard, "companion": draw_companion}
    with tempfile.TemporaryDirectory() as name, browser() as chromium:
        page = chromium.new_page()
        for wanted in sys.argv[1:] or drawings:
            drawings[wanted](page, Path(name))


if __name__ == "__main__":
    main()
