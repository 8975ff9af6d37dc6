"""Probes: how often honest changing pages are misjudged, how many cloaked pages are found, and what probing costs.

    python benchmarks/probes.py --pages 400 --webs WEB.warc.gz ...

Pages of real webs are served repeatedly with typical changes: dates, advertisements, lists of related pages, boxes that half of
the visitors see. Cloaked pages are served differently to a browser. Then each host of the webs answers every URL that does not
exist with one of its own pages, and its other pages are judged: none of them is missing, unless it is a copy.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from statistics import mean
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/probes.py`

from benchmarks.changing_pages import CHANGES, Serve, added, also, everything, farmed, nothing, sneaky, stuffed
from benchmarks.duplicates import a_reader
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, original_of
from crawlproject.parts.duplicates.sketch_store import MemorySketchStore
from crawlproject.parts.probes.cloaking import can_be_judged, copy_of, judge
from crawlproject.parts.probes.probe_log import (
    BROWSER,
    CLOAKED,
    DISGUISED,
    HONEST,
    MADE_UP,
    UNDECIDED,
    Finding,
    ProbeResponse,
)
from crawlproject.parts.probes.soft_404 import Soft404Detector, made_up
from crawlproject.records import Fetch, Page
from crawlproject.urls.hosts import host_of
from crawlproject.webs.open import open_web

ANSWERS = 4  # pages of a host that serve in turn as its answer to missing URLs
LOOKED_AT = 50  # pages of a host that are judged

# ------------------------------------------------------------ judging


def probed(reader: Reader, url: str, body: bytes, serve: Serve, number: int) -> tuple[str, int]:
    """The verdict on a page served by ``serve``, and the number of fetches that it took."""
    rng = Random(f"{url} {number}")

    def fetched(step: str) -> Page:
        return reader.read(url, serve(body, rng, step in DISGUISED, number))

    page = fetched("")
    step, copies, fetches = BROWSER, copy_of(page).numbers(), 0
    while True:
        fetches += 1
        found = judge(step, copies, ProbeResponse(Fetch(200, 1.0, 0.1), fetched(step)), url)
        if not found.then:
            return found.verdict, fetches
        step, copies = found.then, found.copies


def has_enough(page: Page) -> bool:
    """Whether a page would be probed at all."""
    return can_be_judged(page) and not page.redirect


def judge_all(reader: Reader, pages: Sequence[tuple[str, bytes]], serve: Serve) -> tuple[Counter[str], float]:
    """Counts of the verdicts, and the mean number of fetches."""
    found = [probed(reader, url, body, serve, number) for number, (url, body) in enumerate(pages)]
    return Counter(verdict for verdict, _ in found), mean(fetches for _, fetches in found)


def print_row(name: str, verdicts: Counter[str], fetches: float) -> None:
    total = verdicts.total()
    shares = [f"{100 * verdicts[verdict] / total:8.1f}%" for verdict in (CLOAKED, HONEST, UNDECIDED)]
    print(f"{name:<48}", *shares, f"{fetches:8.2f}", f"{total:7,}", flush=True)


def report_cloaking(reader: Reader, pages: Sequence[tuple[str, bytes]]) -> None:
    print(
        f"{'honest pages that change':<48}",
        *(f"{word:>9}" for word in ("cloaked", "honest", "undecided")),
        "fetches  pages",
    )
    for name, change in CHANGES.items():
        print_row(name, *judge_all(reader, pages, change))
    bodies = [body for _, body in pages]
    styles: dict[str, Serve] = {
        "another page": sneaky(bodies),
        **{f"keywords, {share:.0%} of the words": stuffed(share) for share in (0.1, 0.2, 0.3, 0.5, 1.0)},
        **{f"{links} links": farmed(links) for links in (20, 50, 100, 200)},
    }
    print("cloaked pages")
    for name, style in styles.items():
        print_row(name, *judge_all(reader, pages, style))
    print("cloaked pages that change as the last honest ones do")
    for name, style in styles.items():
        print_row(name, *judge_all(reader, pages, also(everything, style)))


# ------------------------------------------------------------ pages that do not exist


def report_missing(reader: Reader, hosts: dict[str, list[tuple[str, bytes]]], rng: Random) -> None:
    """Judge the real pages of hosts that answer missing URLs with one of them; then judge URLs that do not exist."""
    said = Counter[str]()
    examples = []
    index = DuplicateIndex(MemorySketchStore())
    for pages in hosts.values():
        chosen = rng.sample(pages, min(len(pages), LOOKED_AT))
        read = [page for url, body in chosen if not (page := reader.read(url, body, depth=1)).redirect]
        for answer in rng.sample(read, min(ANSWERS, len(read))):
            missing = answering(reader, answer)
            for page in read:
                if page.url == answer.url:
                    continue
                said["pages"] += 1
                if not missing.is_page(page):
                    continue
                said["missing"] += 1
                if index.is_duplicate(original_of(page, sketch(page)), original_of(answer, sketch(answer))):
                    said["copies"] += 1
                elif not page.terms:
                    said["empty"] += 1
                else:
                    examples.append((answer.url, page.url))
    wrong = said["missing"] - said["copies"] - said["empty"]
    share = 100 * wrong / max(1, said["pages"])
    print(
        f"\n{said['pages']:,} pages of {len(hosts)} hosts, each against {ANSWERS} answers: {said['missing']:,} judged missing,"
    )
    print(
        f"of which {said['copies']:,} are copies of the answer, and {said['empty']:,} have no text at all, as their answer"
    )
    print(f"misjudged: {wrong:,}, {share:.3f}%")
    for pair in examples[:20]:
        print("   ", *pair)
    for name, change in (("as it is", nothing), *list(CHANGES.items())[1:4]):
        print(f"not there, {name + ':':<24} {100 * found_missing(reader, hosts, change, rng):5.1f}% are recognised")


def answering(reader: Reader, answer: Page) -> Soft404Detector:
    """The detector for a host that answers missing URLs with this page."""
    missing = Soft404Detector(after=1)
    url = made_up(answer.url, 1)
    said = missing.judge(url, ProbeResponse(Fetch(200, 1.0, 0.1), answer))
    missing.learn(Finding(url, "missing", answer.url, 1.0, 0.1, 200, **said))
    assert said["verdict"] == MADE_UP
    return missing


def found_missing(reader: Reader, hosts: dict[str, list[tuple[str, bytes]]], change: Serve, rng: Random) -> float:
    """The share of made-up URLs that are recognised when the answer names the request and ``change`` alters it."""
    found = []
    for pages in hosts.values():
        url, body = rng.choice(pages)
        asked = made_up(url, 1)
        answer = reader.read(asked, change(named(body, asked), rng, False, 1), depth=1)
        other = url.rpartition("/")[0] + "/some-longer-name-of-a-page.html"
        found.append(
            answering(reader, answer).is_page(reader.read(other, change(named(body, other), rng, False, 1), depth=1))
        )
    return mean(found)


def named(body: bytes, url: str) -> bytes:
    name = url.rpartition("/")[2]
    body = re.sub(rb"(?i)<title>", f"<title>{name} ".encode(), body, count=1)
    return added(body, f"<p>There is no page {name} here. Look for {name} elsewhere.")


# ------------------------------------------------------------ cost


def report_cost(reader: Reader, pages: Sequence[tuple[str, bytes]]) -> None:
    read = [reader.read(url, body, depth=1) for url, body in pages]
    missing = answering(reader, read[0])
    started = process_time()
    for page in read:
        copy_of(page).numbers()
    sampled = process_time()
    for page in read:
        missing.is_page(page)
    ended = process_time()
    print(f"\nsketch of a page that is probed: {1000 * (sampled - started) / len(read):.3f} ms")
    print(f"look at a page of a host: {1000 * (ended - sampled) / len(read):.4f} ms")


def pages_of(web: str) -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as folder, closing(open_web(web, cache_dir=Path(folder))) as opened:
        for url in sorted(opened.urls()):
            reply = opened.get(url)
            page = reply.status == 200 and reply.headers.get("content-type", "text/html").startswith("text/html")
            if page:
                yield url, reply.body


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--pages", type=int, default=400, help="pages that are served in each way")
    parser.add_argument("--webs", nargs="+", required=True, help="WARC files")
    parser.add_argument("--only", choices=("cloaking", "missing"), help="one of the two")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    reader, rng = a_reader(), Random(asked.seed)
    pages = [page for web in asked.webs for page in pages_of(web)]
    hosts: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for url, body in pages:
        if url.startswith(("http://", "https://")):
            hosts[host_of(url)].append((url, body))
    rng.shuffle(pages)
    enough = (page for page in pages if has_enough(reader.read(*page)))
    sample = list(islice(enough, asked.pages))
    if asked.only != "missing":
        report_cloaking(reader, sample)
    report_cost(reader, sample)
    if asked.only != "cloaking":
        report_missing(reader, {host: found for host, found in sorted(hosts.items()) if len(found) >= 4}, rng)


if __name__ == "__main__":
    main()
