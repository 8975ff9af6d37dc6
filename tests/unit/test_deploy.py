"""The files in deploy/ are valid: its commands are ours, their settings are known, and its alerts name existing metrics."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml
from support.crawling import ROOT
from support.markdown import doc, first_cells, section

from crawlproject.__main__ import make_command
from crawlproject.configuration import read_options
from crawlproject.topic.parse import load_topic

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OF_PLACES = {"MAX_IDLE_TIME_BEFORE_CLOSE"}  # settings that only Compose or Kubernetes passes


def objects() -> list[dict[str, Any]]:
    return [found for path in MANIFESTS for found in yaml.safe_load_all(path.read_text())]


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for found in objects():
        pod = found.get("spec", {}).get("template", {}).get("spec", {})
        for container in pod.get("containers", ()):
            yield pod, container


def commands() -> Iterator[list[str]]:
    """The arguments of ``topical``."""
    yield from (service["command"] for service in COMPOSE["services"].values() if service.get("image") == "topical")
    yield from (
        container["args"] for _, container in containers() if container["image"] == "topical" and "args" in container
    )


def settings_of(command: list[str]) -> dict[str, str]:
    return dict(word.removeprefix("--set=").split("=", 1) for word in command if word.startswith("--set="))


@pytest.mark.parametrize("command", [*commands()], ids=lambda command: command[0])
def test_its_commands_and_settings_are_ours(command: list[str]) -> None:
    make_command(command[0])
    given = settings_of(command)
    read_options({name: value for name, value in given.items() if name != "USER_AGENT"})
    assert len(given) == sum(word.startswith("--set=") for word in command)
    assert all(word.startswith(("--set=", "/")) for word in command[1:])


def test_workers_are_the_same_with_both() -> None:
    one, other = (settings_of(command) for command in commands() if command[0] == "crawl")
    assert {*one} ^ {*other} == OF_PLACES
    own = {"REDIS_URL", "CRAWL_MIRROR", "USER_AGENT"}
    assert all(one[name] == other[name] for name in {*one} & {*other} - own)
    assert one["FRONTIER"] == "redis"


def test_nobody_is_root_and_nothing_is_written_beside_the_volumes() -> None:
    found = list(containers())
    assert len(found) == 5
    for pod, container in found:
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
        assert security["capabilities"]["drop"] == ["ALL"] and container["resources"]["limits"]["memory"]


def test_kustomize_has_each_manifest() -> None:
    (kustomization,) = [found for found in objects() if found["kind"] == "Kustomization"]
    assert {*kustomization["resources"], "kustomization.yaml"} == {path.name for path in MANIFESTS}
    assert load_topic(DEPLOY / "kubernetes" / "topic.toml").seeds


def test_alerts_name_metrics_that_there_are() -> None:
    text = (DEPLOY / "alerts.yml").read_text()
    known = {name.strip("`") for cell in first_cells(section(doc("deploy.md"), "Metrics")) for name in cell.split(", ")}
    for name in set(re.findall(r"\btopical_\w+", text)):
        assert name.removesuffix("_bucket") in known, name


@pytest.mark.skipif(not which("promtool"), reason="needs promtool")
def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    done = subprocess.run(
        ["promtool", "test", "rules", DEPLOY / "alerts.test.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
