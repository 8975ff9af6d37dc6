"""The outbox on disk: committed letters survive, whatever the state of the last line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.mail import HANDED, OUTBOX, SCORE, Outbox

STEPS = [
    [("b", [SCORE, "http://b.test/1", 0.5]), ("c", [HANDED, 3])],
    [("b", [SCORE, "http://b.test/ä", 1.0]), ("b", [SCORE, "http://b.test/2", -1.0])],
    [("d\n", [HANDED, 4])],
]
GROUPS = [  # letters in the order of sending, by step
    [("b", [[SCORE, "http://b.test/1", 0.5]]), ("c", [[HANDED, 3]])],
    [("b", [[SCORE, "http://b.test/ä", 1.0], [SCORE, "http://b.test/2", -1.0]])],
    [("d\n", [[HANDED, 4]])],
]


def commit(outbox: Outbox) -> list[tuple[str, list[mail.Letter]]]:
    step = outbox.collect()
    outbox.write()
    return step


def write(outbox: Outbox) -> list[int]:
    """Commit all steps; return the file size after each."""
    sizes = [0]
    for step, groups in zip(STEPS, GROUPS, strict=True):
        for worker, letter in step:
            outbox.add(worker, letter)
        assert commit(outbox) == groups
        sizes.append(sizes[-1] + sum(len(mail._lines([group])) for group in groups))
    return sizes


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_has_not_arrived_waits_in_order(tmp_path: Path, on_disk: bool) -> None:
    outbox = Outbox(tmp_path if on_disk else None)
    assert commit(outbox) == [] and not outbox
    write(outbox)
    flat = [group for groups in GROUPS for group in groups]
    assert (outbox.waiting(), len(outbox)) == (flat, 4)
    outbox.arrived(3)
    assert outbox.waiting() == flat[3:]
    outbox.arrived(1)
    assert not outbox
    outbox.close()


def test_letters_that_were_not_committed_are_not_there(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    outbox.add("b", [HANDED, 1])
    assert not outbox and Outbox(tmp_path).waiting() == []


def test_a_kill_at_any_byte_leaves_the_lines_that_were_whole(tmp_path: Path) -> None:
    first = Outbox(tmp_path)
    write(first)
    first.close()
    content = (tmp_path / OUTBOX).read_bytes()
    flat = [group for groups in GROUPS for group in groups]
    for size in range(len(content) + 1):
        (tmp_path / OUTBOX).write_bytes(content[:size])
        outbox = Outbox(tmp_path)
        assert outbox.waiting() == flat[: content[:size].count(b"\n")]
        outbox.add("new", [HANDED, 9])  # behind a torn line
        commit(outbox)
        outbox.close()
        again = Outbox(tmp_path)
        assert again.waiting() == [*flat[: content[:size].count(b"\n")], ("new", [[HANDED, 9]])]
        again.close()


def test_each_step_is_in_the_file_when_it_is_committed(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    sizes = write(outbox)
    assert (tmp_path / OUTBOX).stat().st_size == sizes[-1]
    assert all(later > earlier for earlier, later in pairwise(sizes))
    outbox.arrived(4)
    assert (tmp_path / OUTBOX).stat().st_size == 0, "nothing waits"
    outbox.close()


def test_what_arrived_is_cut_from_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "_WORTH_CUTTING", 50)
    outbox = Outbox(tmp_path)
    write(outbox)
    outbox.arrived(2)
    flat = [group for groups in GROUPS for group in groups]
    assert (tmp_path / OUTBOX).read_bytes() == mail._lines(flat[2:])
    outbox.add("new", [HANDED, 9])
    commit(outbox)
    assert Outbox(tmp_path).waiting() == outbox.waiting() == [*flat[2:], ("new", [[HANDED, 9]])]


@pytest.mark.parametrize("damage", [b"no json", b"[]", b"3", b'["a"]', b'["a",3]', b"\xff", b'["a",[],1]'])
def test_a_damaged_line_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / OUTBOX).write_bytes(b'["b",[["handed",3]]]\n' + damage + b'\n["b",[]]\n')
    with pytest.raises(BadCrawlDir, match=f"{OUTBOX}, line 2"):
        Outbox(tmp_path)


def test_a_disk_that_refuses_is_reported(tmp_path: Path) -> None:
    (tmp_path / OUTBOX).mkdir()
    with pytest.raises(StorageFailed, match=OUTBOX):
        Outbox(tmp_path)


def test_what_the_disk_refuses_is_sent_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox = Outbox(tmp_path)
    write(outbox)
    outbox.add("new", [HANDED, 9])
    with monkeypatch.context() as patched:
        patched.setattr("os.pwrite", lambda file, content, at: len(content) - 1)  # a full disk accepts a part
        step = outbox.collect()
        with pytest.raises(StorageFailed, match=OUTBOX):
            outbox.write()
    assert outbox.waiting()[-1:] == step == [("new", [[HANDED, 9]])]
    outbox.add("later", [HANDED, 10])
    commit(outbox)
    outbox.close()
    assert Outbox(tmp_path).waiting() == outbox.waiting(), "it is written later, and no torn line is in the middle"


def test_what_has_arrived_need_not_be_written_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox = Outbox(tmp_path)
    outbox.add("b", [HANDED, 1])
    outbox.collect()
    monkeypatch.setattr("os.pwrite", lambda file, content, at: 0)
    with pytest.raises(StorageFailed, match=OUTBOX):
        outbox.write()
    outbox.arrived(1)
    outbox.write()
    assert not outbox


json = st.recursive(st.none() | st.integers(-(2**53), 2**53) | st.text(max_size=9), st.lists, max_leaves=4)


@given(st.lists(st.lists(json, min_size=1)), st.integers(0, 2**40))
def test_letters_travel_as_they_are(letters: list[mail.Letter], epoch: int) -> None:
    written = mail.dump(letters, epoch)
    assert mail.load(written) == (epoch, letters)
    assert mail.BETWEEN not in written


@pytest.mark.parametrize("content", [b"", b"{", b"3", b"[3]", b"null", b"\xff", b'["a",[]]', b"[1,2,3]"])
def test_what_are_no_letters_is_refused(content: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        mail.load(content)
