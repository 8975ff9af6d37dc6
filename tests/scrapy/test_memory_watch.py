"""The memory limits that apply to a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.adapters.extensions.memory import MemoryLimit, memory_limits

MB = 2**20


def control_group(root: Path, name: str, limit: str, used: int, files: int = 0) -> None:
    folder = root / "sys/fs/cgroup" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {files}\nactive_file 7\n")


def test_the_limits_of_all_control_groups_around_count_without_files_that_may_go(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("1:name=systemd:/x\n0::/user/job\n")
    control_group(tmp_path, "user/job", "max", 9 * MB)
    control_group(tmp_path, "user", str(500 * MB), 450 * MB, files=100 * MB)
    assert [limit for limit in memory_limits(tmp_path) if limit.name == "control group"] == [
        MemoryLimit("control group", 500 * MB, 350 * MB)
    ]


def test_a_system_that_tells_nothing_has_no_limits(tmp_path: Path) -> None:
    assert list(memory_limits(tmp_path)) == []


@pytest.mark.parametrize(
    ("limit", "used", "near"),
    [(2_000, 1_900, False), (2_000, 1_940, True), (300, 260, False), (300, 275, True), (300, 400, True)],
)
def test_the_margin_is_no_large_share_of_a_small_limit(limit: int, used: int, near: bool) -> None:
    assert MemoryLimit("any", limit * MB, used * MB).is_near == near
