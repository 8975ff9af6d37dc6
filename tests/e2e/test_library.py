"""The examples of docs/library.md and its notebook, run as a reader runs them; and a crawl that is interrupted."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.crawling import ROOT, history
from support.markdown import doc, fences

pytestmark = pytest.mark.slow

# Cells run one after the other in `__main__`, inside a running event loop, as in a notebook.
CELLS = """
import ast, asyncio, json, sys
async def notebook():
    for source in json.load(open(sys.argv[1])):
        tree = ast.parse(source)
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), globals())
        print(json.dumps(repr(eval(compile(last, "cell", "eval"), globals())) if last else None), file=sys.stderr)
asyncio.run(notebook())
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_examples_run(tmp_path: Path) -> None:
    examples = fences(doc("library.md"), "python")
    done = run(tmp_path, "-c", "\nprint('====')\n".join(examples))  # one process: imports are half the cost
    crawling, reading, looping, ordering = done.stdout.split("====\n")
    assert (
        crawling.startswith("<crawl crawls/reefs: reefs, dom, page budget>\n0.") and done.stderr.count("40 pages") == 1
    )
    assert "<b>bleaching</b>" in reading and "Fetched: number 1 of" in reading
    assert looping == "['page budget', 'page budget']\n"
    assert ordering.count("context_and_depth") == 2


def test_the_notebook_says_what_it_prints(tmp_path: Path) -> None:
    cells = [cell for cell in json.loads(doc("library.ipynb"))["cells"] if cell["cell_type"] == "code"]
    (tmp_path / "cells.json").write_text(json.dumps(["".join(cell["source"]) for cell in cells]))
    (tmp_path / "notebook.py").write_text(CELLS)
    done = run(tmp_path, "notebook.py", "cells.json")
    shown = [["".join(output["data"]["text/plain"]) for output in cell["outputs"]] for cell in cells]
    printed = [json.loads(line) for line in done.stderr.splitlines()]
    assert [[line] if line else [] for line in printed] == shown
    assert any("@ordering" in line for line in cells[0]["source"])
    ast.parse("".join(cells[0]["source"]))


def test_an_interrupted_crawl_is_stopped_and_goes_on(tmp_path: Path) -> None:
    code = "from crawlproject import crawl\ncrawl('demo', 'crawl', pages=60, VIRTUAL_WEB='sample', POLITENESS_MIN_DELAY={})"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    # A shell starts background jobs with SIGINT ignored, and child processes inherit that.
    ctrl_c = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    slow = [sys.executable, "-c", ctrl_c + code.format(0.3)]
    pipe = subprocess.PIPE
    with subprocess.Popen(slow, cwd=tmp_path, env=environ, stderr=pipe, start_new_session=True, text=True) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "crawl" / "history.jsonl").exists() or len(history(tmp_path / "crawl")) < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode != 0 and said.rstrip().endswith("KeyboardInterrupt") and "ValueError" not in said
    assert json.loads((tmp_path / "crawl" / "crawl.json").read_text())["reason"] == "shutdown"
    before = len(history(tmp_path / "crawl"))
    run(tmp_path, "-c", code.format(0) + "\n")
    assert before < 60 == sum(bool(line["md5"]) for line in history(tmp_path / "crawl"))
