"""Import paths of the previous version still work, and name the new locations."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
from scrapy.utils.misc import load_object

from crawlproject import moved

COMPONENTS = {  # as the docs of 0.1.0 named them
    "crawlproject.components.scheduler.FrontierScheduler": "crawlproject.adapters.scheduler",
    "crawlproject.components.http_handler.HttpDownloadHandler": "crawlproject.http.http_handler",
    "crawlproject.components.extensions.change_hook.ChangeHook": "crawlproject.parts.revisits.change_hook",
    "crawlproject.components.extensions.dashboard.DashboardServer": "crawlproject.dashboard.extension",
    "crawlproject.components.extensions.failures.Failures": "crawlproject.adapters.extensions.failures",
    "crawlproject.components.extensions.finished.FinishedMarker": "crawlproject.adapters.extensions.finished",
    "crawlproject.components.extensions.judgments.JudgmentWatch": "crawlproject.parts.judgments.watch",
    "crawlproject.components.extensions.log_formatter.QuietLogFormatter": "crawlproject.adapters.extensions.log_formatter",
    "crawlproject.components.extensions.metrics.Metrics": "crawlproject.adapters.extensions.metrics",
    "crawlproject.components.extensions.plain_log.PlainLog": "crawlproject.adapters.extensions.plain_log",
    "crawlproject.components.extensions.progress.Progress": "crawlproject.adapters.extensions.progress",
    "crawlproject.components.extensions.pushed_seeds.PushedSeedsFeed": "crawlproject.parts.workers.pushed_seeds",
    "crawlproject.components.extensions.report.ReportWriter": "crawlproject.adapters.extensions.report",
    "crawlproject.components.extensions.warc.WarcRecorder": "crawlproject.adapters.extensions.warc",
    "crawlproject.components.extensions.websub.HubDeliveries": "crawlproject.parts.websub.extension",
    "crawlproject.parts.revisits.websub.HubDeliveries": "crawlproject.parts.websub.extension",
    "pipelines.examine.ExaminePipeline": "pipelines.steps",
    "pipelines.relevance.RelevancePipeline": "pipelines.steps",
    "pipelines.links.LinksPipeline": "pipelines.steps",
    "pipelines.pages.PagesPipeline": "pipelines.steps",
    "pipelines.history.HistoryPipeline": "pipelines.steps",
    "pipelines.frontier.FrontierPipeline": "pipelines.steps",
}
MODULES = {path.rpartition(".")[0]: new for path, new in COMPONENTS.items()} | {
    "crawlproject.pages.verticals.site_template": "crawlproject.parts.verticals.site_template",
    "crawlproject.storage.items": "crawlproject.storage.page_files",
    "crawlproject.urls.naming": "crawlproject.urls.hosts",
}


@pytest.fixture(autouse=True)
def _old_paths_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in MODULES:
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize(("path", "new"), COMPONENTS.items())
def test_a_component_is_found_by_its_old_path(path: str, new: str) -> None:
    with pytest.warns(FutureWarning, match=rf"is now {new}$"):
        component = load_object(path)
    assert component is load_object(f"{new}.{path.rpartition('.')[2]}")


@pytest.mark.parametrize(("old", "new"), MODULES.items())
def test_a_module_is_the_same_by_both_paths_and_keeps_its_name(old: str, new: str) -> None:
    with pytest.warns(FutureWarning):
        module = import_module(old)
    assert module is import_module(new)
    assert module.__name__ == new and module.__spec__ is not None and module.__spec__.name == new


def test_every_module_of_the_table_is_there() -> None:
    assert all(find_spec(_beside(new)) for new in moved._MOVED.values())
    assert {_beside(old) for old in moved._MOVED} == set(MODULES)


def _beside(name: str) -> str:
    """The full name in a checkout."""
    return name if name.startswith("pipelines.") else f"crawlproject.{name}"


def test_what_never_was_is_not_found() -> None:
    for name in ("crawlproject.components.extensions.nothing", "crawlproject.nothing"):
        with pytest.raises(ModuleNotFoundError, match=name):
            import_module(name)


def test_a_program_that_imports_an_old_path_is_told() -> None:
    told = run("import crawlproject.pages.verticals.site_template").stderr
    assert "<string>:1: FutureWarning: crawlproject.pages.verticals.site_template is now crawlproject.parts." in told


def test_the_finder_of_old_paths_is_asked_last() -> None:
    assert run("import sys, crawlproject; print(sys.meta_path[-1].__module__)").stdout.strip() == "crawlproject.moved"


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
