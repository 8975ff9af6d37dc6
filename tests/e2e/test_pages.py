"""Report and map of a real crawl, read in a browser as a person does, on a desktop and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.browser import DESKTOP, PHONE, Watcher, browser, fits
from support.crawling import crawl, scrapy, topic_file

pytestmark = pytest.mark.slow

SEEDS = ("http://www.lagoon-notes.example/", "http://www.nacre-divers.example/", "http://www.hobby-ring.example/")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages")
    topic = topic_file(root, *SEEDS, keywords="coral reef, bleaching")
    run = crawl(topic, root / "reefs", VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=250, ordering="adaptive")
    assert run.returncode == 0, run.stderr
    made = scrapy("map", root / "reefs")
    assert made.returncode == 0, made.stderr
    return root / "reefs"


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_report_fits_and_its_numbers_lead_to_their_evidence(folder: Path, viewport: dict[str, int]) -> None:
    with browser() as chromium:
        page = chromium.new_page(viewport=viewport)
        watcher = Watcher(page)
        page.goto((folder / "report.html").as_uri())
        assert fits(page) and watcher.problems == []
        assert page.inner_text("#end").lower().startswith("ended: ")
        for link in page.locator("a[href^='#']").all():
            target = link.get_attribute("href")
            assert page.locator(f"[id='{target[1:]}']").count() == 1, target
        page.click(".figures a[href='#hosts']")
        assert page.evaluate("document.querySelector('#hosts').getBoundingClientRect().top < innerHeight")
        for name in page.eval_on_selector_all("a[data-file]", "nodes => nodes.map(node => node.getAttribute('href'))"):
            assert (folder / name).exists(), name


def test_the_report_uses_its_width_and_cuts_no_host(folder: Path) -> None:
    with browser() as chromium:
        page = chromium.new_page(viewport=DESKTOP)
        page.goto((folder / "report.html").as_uri())
        rights = page.eval_on_selector_all(".best p", "nodes => nodes.map(node => node.getBoundingClientRect().right)")
        assert max(rights) > 0.9 * page.evaluate("document.querySelector('.best').getBoundingClientRect().right")
        page.set_viewport_size(PHONE)
        lines = page.eval_on_selector_all(
            ".hosts bdi", "nodes => nodes.map(node => node.getBoundingClientRect().height)"
        )
        assert len(lines) >= 15 and 0 < max(lines) < 25  # pixels: a name is in one line
        assert page.evaluate(
            "(node => node.scrollWidth <= node.clientWidth)(document.querySelector('.hosts').parentNode)"
        )


def test_the_report_can_be_printed(folder: Path, tmp_path: Path) -> None:
    with browser() as chromium:
        page = chromium.new_page()
        page.goto((folder / "report.html").as_uri())
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
            "rgb(255, 255, 255)",
            "rgba(0, 0, 0, 0)",
        )
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"  # also in dark mode
        assert page.pdf(path=tmp_path / "report.pdf").startswith(b"%PDF")


def test_the_list_below_the_map_is_whole_on_a_phone(folder: Path) -> None:
    with browser() as chromium:
        page = chromium.new_page(viewport=PHONE)
        page.goto((folder / "map.html").as_uri())
        assert page.evaluate(
            "(node => node.scrollWidth <= node.clientWidth)(document.querySelector('table').parentNode)"
        )


_KEEP_LABELS = """() => {  // of the last drawing
window.labels = [];
const clearRect = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...where) {
  labels.length = dots.length = 0;
  clearRect.call(this, ...where);
};
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  labels.push([x, y, this.measureText(text).width]);
  fillText.call(this, text, x, y);
};
window.dots = [];
const arc = CanvasRenderingContext2D.prototype.arc;
CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
  const at = this.getTransform().transformPoint(new DOMPoint(x, y));
  dots.push([at.x / devicePixelRatio, at.y / devicePixelRatio]);
  arc.call(this, x, y, ...rest);
};
}"""


def test_the_map_is_moved_zoomed_and_asked(folder: Path) -> None:
    with browser() as chromium:
        page = chromium.new_page(viewport=DESKTOP)
        watcher = Watcher(page)
        page.goto((folder / "map.html").as_uri())

        def picture() -> bytes:
            page.wait_for_timeout(120)
            return page.locator("#map").screenshot()

        first = picture()
        assert len(first) > 10_000  # the canvas is not empty
        page.click("#in")
        zoomed = picture()
        page.mouse.move(600, 500)
        page.mouse.down()
        page.mouse.move(700, 560, steps=4)
        page.mouse.up()
        moved = picture()
        assert len({first, zoomed, moved}) == 3
        page.click("#all")
        page.mouse.move(1, 1)
        assert picture() == first

        page.fill("#find", "bleaching")
        assert int(page.inner_text("#found").split()[0]) > 3
        page.press("#find", "Enter")
        assert "bleaching" in page.inner_text("#about").lower()
        page.click("#about li button >> nth=0")
        assert page.locator("#about h2").count() == 1
        page.keyboard.press("Escape")
        page.click("#close")
        assert page.is_hidden("#about")

        page.set_viewport_size(PHONE)
        page.wait_for_timeout(200)  # redrawn at its moved and zoomed position
        page.click("#all")
        page.wait_for_timeout(200)
        page.evaluate(_KEEP_LABELS)
        page.click("#all")
        page.wait_for_timeout(200)
        labels = page.evaluate("labels")
        assert len(labels) > 3 and all(x >= 0 and x + width <= PHONE["width"] for x, _, width in labels), labels
        assert fits(page) and watcher.problems == []
        assert all(request.startswith("file://") for request in watcher.requests)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_map_fills_its_frame_and_its_labels_do_not_collide(folder: Path, viewport: dict[str, int]) -> None:
    with browser() as chromium:
        page = chromium.new_page(viewport=viewport)
        page.goto((folder / "map.html").as_uri())
        page.evaluate(_KEEP_LABELS)
        page.click("#all")
        page.wait_for_timeout(200)
        dots, labels = page.evaluate("[dots, labels]")
        wide, high = page.evaluate(
            "[document.querySelector('#map').clientWidth, document.querySelector('#map').clientHeight]"
        )
        (left, right), (top, bottom) = ((min(at), max(at)) for at in zip(*dots, strict=True))
        assert (right - left) * (bottom - top) > 0.6 * wide * high  # with the margins and radii: nearly all
        assert len(labels) > 5
        for number, (x, y, width) in enumerate(labels):
            for u, v, other in labels[:number]:
                assert x + width <= u or u + other <= x or abs(y - v) >= 12


def test_maps_for_papers(folder: Path, tmp_path: Path) -> None:
    for name in ("map.svg", "map.png"):
        made = scrapy("map", folder, "--site", "www.lagoon-notes.example", "--limit", 50, "--out", tmp_path / name)
        assert made.returncode == 0, made.stderr
    assert b"www.lagoon-notes.example" in (tmp_path / "map.svg").read_bytes()
    assert scrapy("map", folder, "--site", "nowhere.example").returncode == 2
    assert scrapy("map", tmp_path).returncode == 2
    assert scrapy("map", folder, "--limit", 0).returncode == 2
    assert scrapy("map", folder, "--out", tmp_path / "map.gif").returncode == 2
