"""Every reader of untrusted input, on generated inputs. ``make fuzz`` tries more of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from support.crawling import ROOT
from support.fuzzing import TARGETS

EXAMPLES = {"warc": 150, "html": 200, "crawl": 25, "report": 15}


@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_taken_as_it_should_be(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=EXAMPLES.get(name, 300), suppress_health_check=list(HealthCheck))
    @given(target.inputs)
    def tried(value: object) -> None:
        target.check(value)

    tried()


def test_make_fuzz_tries_for_as_long_as_asked() -> None:
    command = [sys.executable, "tests/security/fuzz.py", "--seconds", "1", "headers", "topic"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["headers", "topic"]
    assert all("0 crashes" in line for line in done.stdout.splitlines())
    wrong = subprocess.run([*command, "nothing"], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert wrong.returncode == 2 and "canonicalization" in wrong.stderr
