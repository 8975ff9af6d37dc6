"""A plan carried out by several processes, a topic at a time each.

The parent hands out topics and passes on the line of each finished run. A worker knows the web by itself and shares
nothing but the files of the cache folder. When one fails, the others are stopped: a run that has not ended leaves
nothing that the next start would keep.
"""

from __future__ import annotations

import gc
import signal
import traceback
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from crawlproject.errors import BadInput, StorageFailed, TopicalError
from crawlproject.evaluation.simulation.plan import Line, Plan, Rehearser

_READY, _LINE, _WARNING, _BAD_INPUT, _STORAGE, _UNFORESEEN = "ready", "line", "warning", "bad input", "storage", "error"
MEMORY_GENERATION = 100_000  # objects between two looks for garbage: there is hardly any, and a look is slow


class WorkerFailed(TopicalError):
    """A worker process broke off; the message says at which topic, and why."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    topic: int | None = None  # its number in the plan


def rehearse_with_workers(plan: Plan, jobs: int, warn: Callable[[str], None]) -> Generator[Line]:
    """Carry a plan out in ``jobs`` processes; a line for each finished run, in the order in which they end.

    ``warn`` is called with each warning of the web, once. Raises what a worker raised: ``BadInput``, ``StorageFailed``,
    or ``WorkerFailed`` for anything else, such as a process that was killed for want of memory.
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
    # A fresh interpreter: a fork would copy the threads' locks and the open files of whoever calls.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(plan, theirs), daemon=True)
    process.start()
    theirs.close()  # so that the end of the worker is the end of the connection
    return _Worker(process, ours)


def _received(worker: _Worker, plan: Plan) -> tuple[str, Any]:
    """The next message of a worker; raises what went wrong in it."""
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
    return f"a process of the rehearsal broke off {where} ({why}); finished runs are kept"


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.process.join(0.5)
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join()


def _work(plan: Plan, connection: Connection) -> None:
    """What a worker process does: a topic when it is given one, until it is given None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides
    gc.set_threshold(MEMORY_GENERATION)
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
