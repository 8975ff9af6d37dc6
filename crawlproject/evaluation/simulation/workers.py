"""Executes a plan in several processes, each of which runs one topic at a time.

The parent assigns topics and forwards the line of each finished run. Each worker opens the web itself; workers share only
the files of the cache folder. When one fails, the others are stopped; the next start repeats unfinished runs.
"""

from __future__ import annotations

import signal
import traceback
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from crawlproject.core.process_tuning import tune_process
from crawlproject.errors import BadInput, StorageFailed, TopicalError
from crawlproject.evaluation.simulation.plan import Line, Plan, Rehearser

_READY, _LINE, _WARNING, _BAD_INPUT, _STORAGE, _UNFORESEEN = "ready", "line", "warning", "bad input", "storage", "error"


class WorkerFailed(TopicalError):
    """A worker process failed; the message names the topic and the reason."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    topic: int | None = None  # its number in the plan


def rehearse_with_workers(plan: Plan, jobs: int, warn: Callable[[str], None]) -> Generator[Line]:
    """Execute a plan in ``jobs`` processes; yield a line for each finished run, in the order in which they end.

    ``warn`` is called once with each warning of the web. Raises the error of a worker: ``BadInput``, ``StorageFailed``, or
    ``WorkerFailed`` for any other, such as a process that was killed because memory ran out.
    """
    waiting = deque(range(len(plan.topics)))
    workers = [_start(plan) for _ in range(min(jobs, len(plan.topics)))]
    warned: set[str] = set()
    try:
        busy = {worker.connection: worker for worker in workers}
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                worker = busy[connection]
                kind, message = _received(worker, plan)
                if kind == _LINE:
                    yield message
                elif kind == _WARNING and message not in warned:
                    warned.add(message)
                    warn(message)
                elif kind == _READY:
                    worker.topic = waiting.popleft() if waiting else None
                    worker.connection.send(worker.topic)
                    if worker.topic is None:
                        del busy[connection]
    finally:
        _stop(workers)


def _start(plan: Plan) -> _Worker:
    # A fresh interpreter: a fork would copy the locks of threads and the open files of the caller.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(plan, theirs), daemon=True)
    process.start()
    theirs.close()  # so that the end of the worker is the end of the connection
    return _Worker(process, ours)


def _received(worker: _Worker, plan: Plan) -> tuple[str, Any]:
    """The next message of a worker. Raises the error of the worker."""
    try:
        kind, message = worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join(5)
        raise WorkerFailed(_broken_off(worker, plan, f"exit code {worker.process.exitcode}")) from None
    if kind == _BAD_INPUT:
        raise BadInput(*message)
    if kind == _STORAGE:
        raise StorageFailed(message)
    if kind == _UNFORESEEN:
        raise WorkerFailed(_broken_off(worker, plan, message))
    return kind, message


def _broken_off(worker: _Worker, plan: Plan, why: str) -> str:
    where = "before its first topic" if worker.topic is None else f"at the topic {plan.topics[worker.topic].name}"
    return f"a process of the rehearsal failed {where} ({why}); finished runs are kept"


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.process.join(0.5)
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join()


def _work(plan: Plan, connection: Connection) -> None:
    """The main function of a worker process: runs each topic it receives, until it receives None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group; the parent handles it
    tune_process()
    try:
        _topics(plan, connection)
    except (EOFError, BrokenPipeError):
        return  # the parent is gone or has given up
    except BadInput as wrong:
        connection.send((_BAD_INPUT, (wrong.place, wrong.wish)))
    except StorageFailed as failure:
        connection.send((_STORAGE, str(failure)))
    except Exception:
        connection.send((_UNFORESEEN, traceback.format_exc()))


def _topics(plan: Plan, connection: Connection) -> None:
    rehearser = Rehearser(plan)
    for warning in rehearser.warnings:
        connection.send((_WARNING, warning))
    try:
        while True:
            connection.send((_READY, None))
            number = connection.recv()
            if number is None:
                return
            for line in rehearser.rehearse(number):
                connection.send((_LINE, line))
    finally:
        rehearser.close()
