"""The history of a crawl with revisits, read as changes of its pages, and policies compared on it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scrapy.exceptions import UsageError
from support.invoking import invoke

from crawlproject.commands import rehearse
from crawlproject.errors import BadInput
from crawlproject.evaluation.freshness.comparison import compare_policies, open_collection
from crawlproject.records import BACK, CHANGED, MISSING, SAME, Visit
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.history import History

DAY = 86_400.0
LIVELY, STILL, AWAY, LATE = (f"http://{name}.example/" for name in ("lively", "still", "away", "still"))
LATE += "late"


def visit(url, day, **more):
    return Visit(url, 200, day * DAY, **{"md5": "0" * 32, "relevance": 0.5, **more})


def write(folder, visits):
    history = History(folder / "history.jsonl")
    for one in visits:
        history.append(one)
    history.close()
    links = AppendLog(folder / "links.jsonl")
    links.append({"source": STILL, "target": LATE})
    links.append({"source": STILL, "target": LIVELY})
    links.close()


@pytest.fixture
def folder(tmp_path):
    """Thirty daily visits: the text of one page changes every third day, one never changes, one is gone for a while."""
    visits = [visit(LIVELY, 0.0), visit(STILL, 0.1), visit(AWAY, 0.2, relevance=0.1)]
    version = 1
    for day in range(1, 31):
        changed = day % 3 == 0
        version += changed
        more = {"change": CHANGED, "novelty": 0.5} if changed else {"md5": "", "change": SAME}
        visits.append(visit(LIVELY, day, number=day + 1, version=version, **more))
        visits.append(replace(visit(STILL, day + 0.1, number=day + 1, md5="", change=SAME), status=304))
        change = {10: MISSING, 20: BACK}.get(day, SAME if day < 10 or day > 20 else MISSING)
        visits.append(visit(AWAY, day + 0.2, number=day + 1, md5="", change=change))
        if day == 5:
            visits.append(visit(LATE, 5.5))
    write(tmp_path, visits)
    return tmp_path


def test_changes_are_half_way_between_two_visits(folder):
    collection = open_collection(folder)
    pages = {member.history.url: member for member in collection.members}
    lively = pages[LIVELY].history
    assert (lively.times / DAY).tolist() == [0.0, *(day - 0.5 for day in range(3, 31, 3))]
    assert lively.distance(0, 1) == pytest.approx(2 / 3, abs=0.02)  # half of the text is new: 1/3 of the union stays
    assert len(pages[STILL].history.times) == 1
    ((start, end),) = pages[AWAY].history.gone
    assert (start / DAY, end / DAY) == (pytest.approx(9.7), pytest.approx(19.7))


def test_links_lead_to_pages_of_the_host_and_weights_are_relevance(folder):
    collection = open_collection(folder)
    still = next(site for site in collection.sites if site.name == "still.example")
    assert [page.url for page in still.pages] == [STILL, LATE]
    assert still.pages[0].links[0] == {1}
    assert still.pages[1].born == 5.5 * DAY  # found after revisits had begun; the others were there from the start
    weights = {
        member.history.url: weight for member, weight in zip(collection.members, collection.weights, strict=True)
    }
    assert weights[LIVELY] == pytest.approx(5 * weights[AWAY])


def test_policies_are_compared_on_it(folder):
    lines = {line["policy"]: line for line in compare_policies(open_collection(folder), ["uniform", "age"], 2.0)}
    assert lines["uniform"]["share"] == 0
    assert lines["age"]["freshness"] > lines["uniform"]["freshness"]  # the page that changes is visited more often
    assert lines["age"]["new"] == lines["age"]["new_found"] == 1


def test_a_failed_visit_says_nothing(tmp_path):
    visits = [visit(LIVELY, 0), *(Visit(LIVELY, 0, day * DAY, error="timeout", number=day + 1) for day in range(1, 9))]
    write(tmp_path, visits)
    (page,) = (member.history for member in open_collection(tmp_path).members)
    assert len(page.times) == 1 and not page.gone


def test_a_record_that_is_too_short_is_refused(tmp_path):
    write(tmp_path, [visit(STILL, 0), visit(STILL, 3, number=2, md5="", change=SAME)])
    with pytest.raises(BadInput, match=r"expected revisits over 7 days or more, not 3.0"):
        open_collection(tmp_path)


def test_a_crawl_without_revisits_is_refused(tmp_path):
    write(tmp_path, [visit(STILL, 0), visit(LATE, 30)])
    with pytest.raises(BadInput, match="expected revisits"):
        open_collection(tmp_path)


def test_the_command_prints_a_line_for_each_policy(folder, capsys):
    assert invoke(rehearse.RehearseCommand(), folder, "--revisit", "adaptive", "uniform", "--days", "3") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["policy"] for line in lines] == ["adaptive", "uniform"]
    assert all(line["days"] == 3 for line in lines)


@pytest.mark.parametrize("wrong", [["--days", "0"], ["--days", "inf"], ["--days", "nan"], ["topic.toml"]])
def test_the_command_refuses_what_makes_no_sense(folder, wrong):
    with pytest.raises(UsageError, match="expected"):
        invoke(rehearse.RehearseCommand(), folder, *wrong, "--revisit", "uniform")


def test_a_wrong_policy_and_a_folder_without_changes_end_with_2(folder, tmp_path_factory, capsys):
    assert invoke(rehearse.RehearseCommand(), folder, "--revisit", "unifrom") == 2
    assert invoke(rehearse.RehearseCommand(), tmp_path_factory.mktemp("empty"), "--revisit", "uniform") == 2
    assert "expected one of uniform" in (said := capsys.readouterr().err) and "change histories" in said
