"""`scrapy rehearse`: lines of JSON, repeats, and exit codes."""

import json

import pytest
from scrapy.exceptions import UsageError
from support.invoking import Terminal, invoke
from support.items import a_crawl, an_item

from crawlproject.commands import rehearse
from crawlproject.evaluation.runs import find_runs
from crawlproject.evaluation.simulation import plan
from crawlproject.evaluation.simulation import plan as workers
from crawlproject.webs.sample import SampleWeb


@pytest.fixture
def topic(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    seed = next(SampleWeb().urls())
    path = tmp_path / "reef.toml"
    path.write_text(f'keywords = ["reef"]\nseeds = ["{seed}"]\n[crawl]\nCRAWL_SEED = 5\n')
    return path


def test_a_line_for_each_run_and_runs_are_kept(topic, tmp_path, capsys):
    arguments = ("sample", topic, "--ordering", "dom", "random", "--pages", "3", "--repeat", "2", "--out", "runs")
    for _ in range(2):
        assert invoke(rehearse.RehearseCommand(), *arguments) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["ordering"], line["repeat"]) for line in lines[:4]] == [
        ("dom", 1),
        ("random", 1),
        ("dom", 2),
        ("random", 2),
    ]
    assert all(line["pages"] == 3 for line in lines[:4]) and all(line["kept"] for line in lines[4:])
    seeds = [json.loads((tmp_path / line["folder"] / "crawl.json").read_text()) for line in lines[:4]]
    assert [found["settings"]["crawl_seed"] for found in seeds] == [5, 5, 6, 6]


def test_each_half_of_the_seeds_is_rehearsed(topic, tmp_path, capsys):
    seeds = list(SampleWeb().urls())[:3]
    topic.write_text(f'name = "reef"\nkeywords = ["reef"]\nseeds = {json.dumps(seeds)}')
    arguments = ("sample", topic, "--ordering", "dom", "--pages", "3", "--out", "runs", "--split-seeds")
    assert invoke(rehearse.RehearseCommand(), *arguments) == 0
    folders = [json.loads(line)["folder"] for line in capsys.readouterr().out.splitlines()]
    assert folders == ["runs/half-1/reef/dom", "runs/half-2/reef/dom"]
    begun = [json.loads((tmp_path / folder / "crawl.json").read_text())["topic"]["seeds"] for folder in folders]
    assert begun == [seeds[::2], seeds[1::2]]
    assert [run.ordering for run in find_runs(tmp_path / "runs")] == ["dom", "dom"]


def test_a_single_seed_cannot_be_split(topic, capsys):
    assert invoke(rehearse.RehearseCommand(), "sample", topic, "--split-seeds") == 2
    assert "at least two seeds" in capsys.readouterr().err


def test_fetches_are_one_by_one_unless_asked(topic, tmp_path, capsys):
    for name, given in (("1", ()), ("8", ("--concurrency", "8"))):
        arguments = ("sample", topic, "--ordering", "dom", "--pages", "3", "--out", name)
        assert invoke(rehearse.RehearseCommand(), *arguments, *given) == 0
        manifest = json.loads((tmp_path / name / "reef" / "dom" / "crawl.json").read_text())
        assert manifest["settings"]["concurrent_requests"] == int(name)


@pytest.mark.parametrize("wrong", [["--pages", "0"], ["--repeat", "0"], ["--jobs", "0"], ["--concurrency", "0"]])
def test_numbers_below_one_are_refused(topic, wrong):
    with pytest.raises(UsageError, match="at least 1"):
        invoke(rehearse.RehearseCommand(), "sample", topic, *wrong)


def test_a_web_and_a_topic_are_asked_for():
    with pytest.raises(UsageError, match="expected a web"):
        invoke(rehearse.RehearseCommand(), "sample")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_bad_input_is_one_message_and_exit_code_2(topic, capsys, jobs):
    assert invoke(rehearse.RehearseCommand(), "nowhere.warc", topic, "--jobs", jobs) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_interruption_ends_with_130_and_says_how_to_resume(topic, capsys, monkeypatch):
    def interrupted(*_):
        yield {"topic": "reef", "ordering": "dom", "pages": 3}
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "rehearse_here", interrupted)
    assert invoke(rehearse.RehearseCommand(), "sample", topic) == 130
    printed = capsys.readouterr()
    assert json.loads(printed.out)["pages"] == 3 and "finished runs are kept" in printed.err


def test_a_worker_that_breaks_off_ends_with_1_and_one_message(topic, capsys, monkeypatch):
    def broken(*_):
        yield {"topic": "reef", "ordering": "dom", "pages": 3}
        raise workers.WorkerFailed("a process broke off")

    monkeypatch.setattr(workers, "rehearse_with_workers", broken)
    assert invoke(rehearse.RehearseCommand(), "sample", topic, "--jobs", "2") == 1
    assert capsys.readouterr().err == "scrapy: a process broke off\n"


def test_the_bar_is_for_terminals_and_lines_stay_lines(topic, capsys, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    assert invoke(rehearse.RehearseCommand(), "sample", topic, "--ordering", "dom", "--pages", "3") == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 3
    assert "1/1" in shown.getvalue()


def test_on_a_terminal_lines_are_for_people(topic, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stdout", shown)
    for _ in range(2):
        assert invoke(rehearse.RehearseCommand(), "sample", topic, "--ordering", "dom", "--pages", "3") == 0
    first, second = shown.getvalue().splitlines()
    assert first.startswith("reef dom: 3 pages of ") and second == "reef dom: kept"


def test_a_topic_of_the_project_goes_by_its_name(topic, tmp_path, capsys):
    assert invoke(rehearse.RehearseCommand(), "sample", "demo", "--ordering", "dom", "--pages", "3") == 0
    assert json.loads(capsys.readouterr().out)["topic"] == "demo"


def test_runs_of_another_web_or_topic_are_not_taken_for_these(topic, tmp_path, capsys):
    arguments = (topic, "--ordering", "dom", "--pages", "3", "--out", "runs")
    assert invoke(rehearse.RehearseCommand(), "sample", *arguments) == 0
    other = tmp_path / "web" / "h.example"
    other.mkdir(parents=True)
    (other / "index.html").write_text("<title>reef</title><p>reef")
    for ordering in ("dom", "random"):
        assert invoke(rehearse.RehearseCommand(), tmp_path / "web", topic, "--ordering", ordering, "--out", "runs") == 2
        assert "runs/reef/dom: holds a rehearsal on the web sample, not" in capsys.readouterr().err
    topic.write_text(topic.read_text().replace('["reef"]', '["atoll"]'))
    assert invoke(rehearse.RehearseCommand(), "sample", *arguments) == 2
    assert "holds a rehearsal with other keywords" in capsys.readouterr().err


def test_a_web_without_the_seeds_is_no_success(topic, tmp_path, capsys):
    (tmp_path / "docs" / "adr").mkdir(parents=True)
    (tmp_path / "docs" / "adr" / "0001.md").write_text("# Reefs")
    for _ in range(2):
        assert invoke(rehearse.RehearseCommand(), "docs", topic, "--ordering", "dom", "--out", "runs") == 2
        printed = capsys.readouterr()
        assert json.loads(printed.out)["pages"] == 0
        assert "web 'docs': no page of it was stored for reef; expected a web that has the seeds" in printed.err


def test_a_live_crawl_is_not_removed_by_a_rehearsal(topic, tmp_path, capsys):
    folder = a_crawl(tmp_path / "runs" / "reef" / "dom", an_item(0, "reef"))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert invoke(rehearse.RehearseCommand(), "sample", topic, "--ordering", "dom", "--out", "runs") == 2
    assert "holds a crawl that is not a rehearsal" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_file_is_no_folder_for_runs(topic, tmp_path, capsys):
    (tmp_path / "notes").write_text("kept")
    assert invoke(rehearse.RehearseCommand(), "sample", topic, "--pages", "1", "--out", "notes") == 2
    assert capsys.readouterr().err == "scrapy: notes: expected a folder for the runs, but this is a file\n"
