"""Constructs that the source code must never contain."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from support.crawling import ROOT

SOURCES = [
    path for room in ("crawlproject", "spiders", "middlewares", "pipelines") for path in (ROOT / room).rglob("*.py")
]
RUNS_CODE = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "jsonpickle", "cloudpickle"}
CALLS = {"eval", "exec", "compile", "__import__"}
SYSTEM = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
# A program passes its ordering to the crawl process that it starts, over a pipe between the two.
OWN_PROCESSES = {"crawlproject/commands/crawl.py", "crawlproject/library/crawling.py"}
# State that is read back consists only of the orderings' classes, classes that parts name, arrays and counters:
# ``tests/unit/core/test_checkpoint.py``.
OWN_STATE = {"crawlproject/core/learned_state.py"}
FETCHES = {"urllib.request.urlopen", "urlopen", "urllib.request.urlretrieve"}


def offences(source: str) -> Iterator[str]:
    """Code that runs input, calls a shell, bypasses the download handler, or parses XML with entities."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            yield from (f"line {node.lineno}: imports {name}" for name in names if name.split(".")[0] in RUNS_CODE)
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {word.arg: ast.unparse(word.value) for word in node.keywords}
        if called in CALLS | SYSTEM | FETCHES:
            yield f"line {node.lineno}: calls {called}"
        if given.get("shell") == "True" or given.get("allow_pickle") == "True":
            yield f"line {node.lineno}: {given}"
        if called.endswith("XMLParser") and (given.get("resolve_entities"), given.get("no_network")) != (
            "False",
            "True",
        ):
            yield f"line {node.lineno}: an XML parser that resolves entities"
        if called.endswith("HTMLParser") and given.get("no_network") != "True":
            yield f"line {node.lineno}: an HTML parser with a network"
        if called.endswith("Environment") and "loader" in given and given.get("autoescape") != "True":
            yield f"line {node.lineno}: templates that do not escape"


def test_nothing_that_was_read_is_run() -> None:
    found = {str(path.relative_to(ROOT)): list(offences(path.read_text(encoding="utf-8"))) for path in SOURCES}
    for name in OWN_PROCESSES | OWN_STATE:
        found[name] = [offence for offence in found[name] if not offence.endswith("pickle")]
    assert {name: offence for name, offence in found.items() if offence} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "eval(text)",
        "os.system(title)",
        "subprocess.run(url, shell=True)",
        "np.load(path, allow_pickle=True)",
        "urlopen(url)",
        "etree.XMLParser(target=x)",
        "etree.XMLParser(resolve_entities=True, no_network=True)",
        "etree.HTMLParser(target=x)",
        "Environment(loader=x)",
    ],
)
def test_the_check_sees(line: str) -> None:
    assert list(offences(line))
