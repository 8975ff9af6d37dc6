"""The map of a crawl as HTML, SVG and PNG."""

import base64
import hashlib
import json
import re
from xml.etree import ElementTree

import pytest

from crawlproject.errors import BadInput
from crawlproject.reports.map import Drawing, map_html, map_svg, write_map
from crawlproject.reports.map_data import read_map

WILD = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u2028\u202e\x00"


@pytest.fixture
def found(write_crawl, page, tmp_path):
    seed = "http://a.example/"
    visits = [page(seed, relevance=0.05, title="Seed")]
    visits += [page(f"http://a.example/{n}", relevance=n / 40, parent=seed, depth=1) for n in range(30)]
    visits += [page("http://b.example/", relevance=0.9, parent=seed, title=WILD)]
    return read_map(write_crawl(tmp_path / "crawl", visits, topic={"name": WILD, "keywords": ["x"]}))


def data_of(page):
    return json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_a_page_of_its_own_that_runs_its_own_script_only(found):
    page, policy = map_html(found)
    text = page.decode()
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 1 and text.count("<script") == 2
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert policy in text.replace("&#39;", "'")
    assert "innerHTML" not in scripts[0] and not re.search(
        r"(src|href)=[\"']?(https?:)?//(?!a\.example|b\.example)", text
    )


def test_texts_of_the_web_are_data(found):
    text = map_html(found)[0].decode()
    assert "<img" not in text and "alert(1)</script>" not in text and "\u202e" not in text
    document = data_of(text)
    (wild,) = [node for node in document["nodes"] if node[10] == "http://b.example/"]
    assert wild[9].startswith("</script><script>alert(1)")
    assert wild[7] == 0.9 and document["nodes"][0][6] == 1


def test_every_place_is_drawn_once_in_svg(found):
    tree = ElementTree.fromstring(map_svg(found))
    circles = [node for node in tree if node.tag.endswith("circle")]
    assert len(circles) == len(found.nodes)
    assert max(float(circle.get("r")) for circle in circles) == float(circles[-1].get("r"))  # the best one on top
    assert not [node for node in tree.iter() if node.tag.endswith(("script", "image", "foreignObject", "a"))]


def test_the_same_crawl_has_the_same_drawing(found):
    assert map_svg(found) == map_svg(found)
    assert Drawing(found).positions == Drawing(found).positions


def test_the_kind_of_file_is_what_its_name_ends_with(found, tmp_path):
    assert write_map(found, tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert write_map(found, tmp_path / "m.SVG").read_bytes().startswith(b"<svg")
    assert write_map(found, tmp_path / "deep" / "m.html").read_bytes().startswith(b"<!doctype")
    with pytest.raises(BadInput, match="pdf"):
        write_map(found, tmp_path / "m.pdf")


def test_a_crawl_without_pages_has_a_map(write_crawl, tmp_path):
    empty = read_map(write_crawl(tmp_path / "empty"))
    assert b"No page was stored." in map_html(empty)[0] and map_svg(empty).startswith(b"<svg")
    assert b"No page was stored, so there is nothing to draw." in map_html(empty)[0]


def test_a_few_pages_fill_the_drawing(found, write_crawl, page, tmp_path):
    assert b"nothing to draw" not in map_html(found)[0]
    few = Drawing(read_map(write_crawl(tmp_path / "few", [page("http://a.example/"), page("http://b.example/")])))
    one = Drawing(read_map(write_crawl(tmp_path / "one", [page("http://a.example/")])))
    for drawing in (few, one):
        _, _, width, height = drawing.box
        assert min(width, height) >= 4 * max(drawing.radii) and max(width, height) < 80.0


def test_the_drawing_has_the_shape_of_a_window(write_crawl, page, tmp_path):
    """The drawing leaves less than a quarter of a frame of 1368 by 702 pixels empty."""
    sites = [f"http://s{n % 12}.example/{n}" for n in range(150)]
    visits = [page(url, relevance=n / 200, parent=sites[n // 3] if n else None) for n, url in enumerate(sites)]
    _, _, width, height = Drawing(read_map(write_crawl(tmp_path / "crawl", visits))).extent
    scale = min(1368 / width, 702 / height)
    assert scale**2 * width * height > 0.75 * 1368 * 702


def test_labels_do_not_collide_the_lesser_are_left_out(write_crawl, page, tmp_path):
    visits = [page("http://s0.example/", relevance=0.9, title="The best of all pages on reefs")]
    visits += [
        page(
            f"http://s{n % 4}.example/{n}",
            relevance=0.2 + n / 200,
            parent=visits[0].url,
            title=f"A long title of page {n}",
        )
        for n in range(1, 60)
    ]
    drawing = Drawing(read_map(write_crawl(tmp_path / "crawl", visits)))
    labels = [
        (float(text.get("x")), float(text.get("y")), len(text.text) * float(text.get("font-size")), text.text)
        for text in ElementTree.fromstring(map_svg(drawing.found)).iter("{http://www.w3.org/2000/svg}text")
        if text.get("font-size") and text.get("y")
    ]
    assert 5 < len(labels) < 44
    high = 0.8 * float(max(5.5, drawing.box[2] / 125))
    for number, (x, y, long, _) in enumerate(labels):
        for u, v, other, _ in labels[:number]:
            assert abs(x - u) >= 0.28 * (long + other) or abs(y - v) >= high
