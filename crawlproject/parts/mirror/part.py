"""The part that writes the mirror of a crawl, in a thread."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Event, Thread
from typing import Any

from crawlproject.configuration import program
from crawlproject.core.part import Part, Setup
from crawlproject.errors import BadInput, BadSetting, StorageFailed
from crawlproject.parts.mirror.mirror import Mirror
from crawlproject.parts.mirror.options import MirrorOptions
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.remote import Remote

logger = logging.getLogger(__name__)

SETTING = "CRAWL_MIRROR"
FIRST = 2.0  # seconds until the first round; after each the wait doubles
EVERY = 30.0  # seconds from the end of a round to the next, at most
LONGEST = 60.0  # seconds between two tries while it fails
LAST_TRIES = 5  # failures in a row without anything sent, after the crawl has ended
PATIENCE = 20.0  # seconds for which the start of a crawl waits for an answer


class MirrorPart(Part):
    """Present with ``CRAWL_MIRROR``, except in rehearsals. Reports a wrong address before the crawl begins."""

    name = "mirror"

    def __init__(self, mirror: Mirror) -> None:
        self.mirror = mirror
        self.failed = 0
        self._ending = Event()
        self._thread = Thread(target=self._work, name="mirror", daemon=True)

    @classmethod
    def make(cls, setup: Setup) -> MirrorPart | None:
        address = setup.options.of(MirrorOptions).crawl_mirror
        if not address or setup.rehearsal:
            return None
        if setup.options.frontier == "redis":  # each worker has a folder
            address = f"{address.rstrip('/')}/workers/{setup.folder.path.name}"
        return cls(_claimed(address, setup.folder))

    def begin(self, now: float) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Wait until everything is sent, or nothing more can be. The crawl has ended and its folder is complete."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def counters(self) -> Mapping[str, int]:
        return {
            "mirror/files": self.mirror.files,
            "mirror/bytes": self.mirror.bytes,
            **({"mirror/failed": self.failed} if self.failed else {}),
        }

    def _work(self) -> None:
        wait, failed = FIRST, False
        while not self._ending.wait(wait):
            try:
                self.mirror.update()
            except Exception as failure:
                self._failed(failure, first=not failed)
                wait, failed = min(LONGEST, 2 * wait) if failed else 1.0, True
            else:
                if failed:
                    logger.warning("%s: %s is up to date again", SETTING, self.mirror.remote.address)
                wait, failed = FIRST if failed else min(EVERY, 2 * wait), False
        self._finish()

    def _finish(self) -> None:
        tries, wait = 0, 1.0
        while True:
            before = self.mirror.files
            try:
                self.mirror.update(over=True)
                return
            except Exception as failure:
                tries = 1 if self.mirror.files > before else tries + 1
                self._failed(failure, first=False)
                if tries == LAST_TRIES or isinstance(failure, BadInput):
                    told = "%s: not all of the crawl is at %s (%s). Run the same command again, or `%s push %s %s`"
                    address = self.mirror.remote.address
                    logger.error(told, SETTING, address, failure, program, self.mirror.folder, address)
                    return
            Event().wait(wait)
            wait *= 2

    def _failed(self, failure: Exception, *, first: bool) -> None:
        self.failed += 1
        if first:
            expected = isinstance(failure, BadInput | StorageFailed)
            logger.warning(
                "%s: %s. The copy is retried; the crawl continues.",
                SETTING,
                failure,
                exc_info=None if expected else failure,
            )


def _claimed(address: str, folder: CrawlFolder) -> Mirror:
    """The mirror, after a try of its address. Raises ``BadSetting``, but not when the network is down."""
    found: list[Any] = []
    try:
        mirror = Mirror(folder.path, Remote(address))
    except BadInput as wrong:
        raise BadSetting(f"setting {SETTING}", str(wrong)) from None

    def claim() -> None:
        try:
            mirror.claim(folder.manifest.found)
        except (BadInput, StorageFailed) as failure:
            found.append(failure)

    thread = Thread(target=claim, name="mirror-claim", daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if found and isinstance(found[0], BadInput):
        raise BadSetting(f"setting {SETTING}", str(found[0]))
    if found or thread.is_alive():
        told = str(found[0]) if found else f"{mirror.remote.address} does not answer"
        logger.warning("%s: %s. The copy is retried; the crawl continues.", SETTING, told)
    return mirror
