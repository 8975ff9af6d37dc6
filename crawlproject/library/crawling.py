"""Starts a crawl in a separate process, so that it works in a notebook, in a running event loop, and in any thread."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from crawlproject.adapters.subcommand import BAD_INPUT, STOPPED
from crawlproject.configuration import program, read_options, refuse_unknown
from crawlproject.errors import BadInput, BadSetting, TopicalError
from crawlproject.library.stored_crawl import StoredCrawl, open_crawl
from crawlproject.orderings.registry import ordering_class, registered
from crawlproject.records import Topic
from crawlproject.topic.folder import find_topic
from crawlproject.topic.parse import checked_topic

if TYPE_CHECKING:
    from crawlproject.parts.judges.base import Judge

_TOLD = 20  # last lines of a failed crawl's output that its error repeats
# The new process takes over ``sys.path``, so that it finds the same modules, including a checkout or additions by a script.
_START = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from crawlproject.commands.crawl import crawl_as_told
crawl_as_told()
"""


def crawl(
    topic: str | Path | Topic,
    folder: str | Path = "",
    *,
    ordering: str = "",
    judge: str | type[Judge] = "",
    pages: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> StoredCrawl:
    """Crawl ``topic`` to the end, or resume the crawl in ``folder``. Return the opened crawl folder.

    ``topic`` is a ``Topic``, a topic file, the name of a bundled topic, or TOML. ``folder`` is ``crawls/<topic name>`` by
    default. ``pages`` is ``CRAWL_MAX_PAGES``. ``settings`` are the same as with ``-s``: ``VIRTUAL_WEB="sample"``. With
    ``progress``, the output of the crawl goes to standard error. ``ordering`` may be one registered in this process. ``judge``
    is the value of ``TOPIC_RELEVANCE``, or a class.

    The call blocks; in a coroutine, use ``await asyncio.to_thread(crawl, ...)``. Ctrl-C stops the crawl after the pages in
    flight; the same call resumes it. Raises ``BadInput`` for a wrong topic or setting. If the crawl ended early, because the
    network failed or the disk was full, ``reason`` says so, or a ``TopicalError`` is raised.
    """
    found = checked_topic(topic) if isinstance(topic, Topic) else find_topic(str(topic))
    chosen = checked_settings(settings)
    if folder:
        chosen["CRAWL_DIR"] = str(folder)
    if pages is not None:
        chosen["CRAWL_MAX_PAGES"] = pages
    judges = appoint(judge, chosen)
    options = read_options({**found.settings, **chosen})
    name = ordering or options.ordering
    ordering_class(name)
    own = registered(name)
    wish: dict[str, Any] = {
        "topic": found,
        "settings": {**chosen, "ORDERING": name},
        "orderings": {name: own} if own else {},
    }
    wish["judges"] = judges
    code, said = _run(wish, relayed=progress)
    if code == BAD_INPUT:
        raise BadInput("crawl", "\n".join(said).removeprefix(f"{program}: "))
    if code not in (0, STOPPED) or not options.folder(found.name).exists():
        raise TopicalError("the crawl failed (exit code {}):\n{}".format(code, "\n".join(said)))
    return open_crawl(options.folder(found.name))


def checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check settings that were given as keyword arguments. Raises ``BadSetting`` for unknown names."""
    for name in settings:
        if name != name.upper():
            raise BadSetting(f"argument {name}", "there is no such argument, and settings are named in capitals")
    refuse_unknown(settings)
    return dict(settings)


def appoint(judge: str | type[Judge], settings: dict[str, Any]) -> dict[str, type[Judge]]:
    """Set the judge in ``settings``. If it is a class, register it, and return it under its name."""
    if not judge:
        return {}
    if isinstance(judge, str):
        settings["TOPIC_RELEVANCE"] = judge
        return {}
    from crawlproject.parts.judges.registry import register

    settings["TOPIC_RELEVANCE"] = name = judge.__name__
    register(name, judge)
    return {name: judge}


def _run(wish: Mapping[str, Any], *, relayed: bool) -> tuple[int, list[str]]:
    """Run the crawl in a separate process. Return its exit code and the last lines that it printed."""
    said: deque[str] = deque(maxlen=_TOLD)
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", "-c", _START]
    # In a new session, so that Ctrl-C reaches this process only, which passes it on once.
    with subprocess.Popen(
        command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, start_new_session=True
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            with process.stdin as stdin:
                stdin.write(pickle.dumps(sys.path) + cloudpickle.dumps(wish))
            for line in process.stderr:
                said.append(line.decode("utf-8", "replace").rstrip("\n"))
                if relayed:
                    print(said[-1], file=sys.stderr)
        except BaseException:  # whatever ends this call also stops the crawl, which first stores the pages in flight
            process.send_signal(signal.SIGINT)
            process.stderr.read()  # or a full pipe would hold it up
            process.wait()
            raise
    return process.returncode, list(said)
