"""Why a page was crawled."""

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.reports.why.lookup import lines_backwards, path_to, paths_to


def chain(page, length):
    """Pages 0 to length - 1, each found on the previous one."""
    return [
        page(f"http://a.example/{i}", parent=f"http://a.example/{i - 1}" if i else None, anchor=f"to {i}" if i else "")
        for i in range(length)
    ]


def test_the_path_leads_from_the_seed_to_the_page(write_crawl, page, tmp_path):
    visits = [
        page("http://seed.example/", title="Seed"),
        page("http://other.example/"),
        page("http://b.example/", parent="http://seed.example/", anchor="hub", context_score=0.5),
        page("http://c.example/", parent="http://b.example/", anchor="leaf", context_score=0.25, relevance=0.9),
        page("http://d.example/", parent="http://c.example/", anchor="further"),
    ]
    path = path_to(write_crawl(tmp_path / "c", visits), "http://c.example/")
    assert [(step.url, step.anchor, step.context_score) for step in path] == [
        ("http://seed.example/", "", 0.0),
        ("http://b.example/", "hub", 0.5),
        ("http://c.example/", "leaf", 0.25),
    ]
    assert path[0].parent is None
    assert (path[0].title, path[-1].relevance) == ("Seed", 0.9)


def test_a_page_that_was_never_fetched_has_no_path(write_crawl, page, tmp_path):
    assert path_to(write_crawl(tmp_path / "c", chain(page, 3)), "http://nowhere.example/") == []


def test_several_pages_share_one_pass(write_crawl, page, tmp_path):
    folder = write_crawl(tmp_path / "c", chain(page, 5))
    paths = paths_to(folder, ["http://a.example/4", "http://a.example/2"])
    assert {url: len(path) for url, path in paths.items()} == {"http://a.example/4": 5, "http://a.example/2": 3}


def test_a_page_fetched_again_after_a_crash_makes_no_circle(write_crawl, page, tmp_path):
    visits = chain(page, 3)
    again = page("http://a.example/0", parent="http://a.example/2", anchor="back")
    path = path_to(write_crawl(tmp_path / "c", [*visits, again]), "http://a.example/0")
    assert [step.url for step in path] == [f"http://a.example/{i}" for i in (0, 1, 2, 0)]


def test_a_history_that_lost_its_beginning_gives_what_is_left(write_crawl, page, tmp_path):
    path = path_to(write_crawl(tmp_path / "c", chain(page, 5)[3:]), "http://a.example/4")
    assert [step.url for step in path] == ["http://a.example/3", "http://a.example/4"]
    assert path[0].parent == "http://a.example/2"


def test_a_torn_last_line_is_passed_over(write_crawl, page, tmp_path):
    folder = write_crawl(tmp_path / "c", chain(page, 2))
    with (folder / "history.jsonl").open("a") as history:
        history.write('{"url": "http://a.ex')
    assert len(path_to(folder, "http://a.example/1")) == 2


def test_no_history_no_path(write_crawl, tmp_path):
    folder = write_crawl(tmp_path / "c")
    assert path_to(folder, "http://a.example/") == []
    (folder / "history.jsonl").unlink()
    assert path_to(folder, "http://a.example/") == []


@given(
    lines=st.lists(st.text(alphabet="ab", max_size=9)),
    torn=st.text(alphabet="ab", max_size=9),
    block=st.integers(1, 20),
)
def test_lines_come_backwards_whatever_the_block_size(tmp_path_factory, lines, torn, block):
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_text("".join(f"{line}\n" for line in lines) + torn)
    assert [line.decode() for line in lines_backwards(path, block)] == lines[::-1]
