"""Small random webs with every event that a crawl learns from, and a live crawl of such a web."""

from __future__ import annotations

from random import Random

from crawlproject.core.crawl import Crawl
from crawlproject.core.robots import RobotsRules
from crawlproject.records import CrawlUrl, Fetch, Reply
from crawlproject.urls.hosts import host_of
from support.livecrawl import finish
from support.webs import html

WORDS = [
    f"{one}{two}" for one in ("lum", "tor", "vex", "pal", "rin", "mog") for two in ("ada", "eck", "ilo", "onk", "urf")
]
CAPTCHA = html(text="Please complete the captcha to prove that you are human", title="Captcha")
SITEMAP = "<urlset>{}</urlset>"


class RandomWeb:
    """``hosts`` hosts with ``pages`` pages each, every page under several session IDs; the same for the same ``seed``.

    A page may be good, off topic, a duplicate, spam, ``noindex``, a redirect, an error, a captcha or a soft 404. On every
    third host, missing pages are answered with a page. Links lead anywhere, also to URLs that no crawl may fetch.
    """

    def __init__(self, seed: int, *, hosts: int = 6, pages: int = 10, told: bool = True) -> None:
        self.seeds = tuple(f"http://www.h{host}.example/" for host in range(min(3, hosts)))
        self._draw, self._hosts, self._count = Random(seed), hosts, pages
        kinds = ["good"] * 6 + ["other"] * 4 + ["duplicate"] * 3 + ["spam"] * 2
        kinds += ["redirect", "error", "forbidden", "busy", "captcha", "missing"] + ["noindex"] * told
        self._odd = ("film.mp4", "gone/{}") + ("private/{}",) * told
        self._pages: dict[tuple[int, int], tuple[int, str, bytes]] = {}
        for host in range(hosts):
            for page in range(pages):
                kind = self._draw.choice(kinds) if page else "good"
                self._pages[host, page] = self._made(kind)

    def get(self, url: str) -> tuple[int, str, bytes]:
        """Return status, redirect target and body."""
        host, path = host_of(url), "/" + url.split("/", 3)[3].partition("?")[0]
        number = int(host.removeprefix("www.h").removesuffix(".example"))
        name = path.strip("/").rpartition("/")[2] or "0"
        if path == "/map.xml":
            pages = [f"<url><loc>http://{host}/d/{n}</loc></url>" for n in range(0, self._count, 2)]
            return 200, "", SITEMAP.format("".join(pages)).encode()
        if name.isdigit() and int(name) < self._count:
            return self._pages[number, int(name)]
        if number % 3 == 1:
            return 200, "", html("/", text="we are sorry " + " ".join(WORDS), title="Welcome")
        return 404, "", b""

    def _made(self, kind: str) -> tuple[int, str, bytes]:
        if kind in ("error", "forbidden", "busy"):
            return {"error": 404, "forbidden": 403, "busy": 503}[kind], "", b""
        if kind == "redirect":
            return 302, self._link(), b""
        if kind == "captcha":
            return 200, "", CAPTCHA
        if kind == "missing":
            return 200, "", html(text="404 page not found", title="404 not found")
        stored = [body for status, _, body in self._pages.values() if status == 200 and b"<p>" in body]
        if kind == "duplicate" and stored:
            return 200, "", self._draw.choice(stored)
        links = [self._link() for _ in range(self._draw.randint(1, 6))]
        words = self._draw.choices(WORDS, k=60)
        named = self._draw.randint(1, 6) if kind in ("good", "noindex") else 0
        text = " ".join([*words, *["coral reef"] * named])
        if kind == "spam":
            text = " ".join(["coral reef"] * 120)
        body = html(*links, text=text, title=" ".join(words[:5]))
        return 200, "", (b"<meta name=robots content=noindex>" if kind == "noindex" else b"") + body

    def _link(self) -> str:
        draw = self._draw
        host, page = draw.randrange(self._hosts), draw.randrange(self._count)
        session = f"?sid={draw.randint(1, 4)}" if draw.random() < 0.4 else ""
        path = f"d/{page}{session}" if draw.random() < 0.9 else draw.choice(self._odd).format(1000 + page)
        return f"http://www.h{host}.example/{path}"


def crawl_on(crawl: Crawl, web: RandomWeb, fetches: int, *, begin: float = 1000.0) -> float:
    """Process up to ``fetches`` leases by the steps of a live crawl; return the time afterwards."""
    now, named = begin, set[str]()
    for _ in range(fetches):
        url = crawl.take(now)
        if url is None:
            due = crawl.frontier.next_due(now)
            if due is None:
                break
            now = max(now, due)
            continue
        now += 0.25
        if (host := host_of(url.url)) not in named:
            named.add(host)
            named_there = f"Sitemap: http://{host}/map.xml" if host.endswith("0.example") else ""
            crawl.robots_read(RobotsRules(200, named_there.encode(), 1e12, "crawler"), url)
        receive(crawl, web, url, now)
    return now


def receive(crawl: Crawl, web: RandomWeb, url: CrawlUrl, now: float) -> None:
    """Process one lease with whatever its URL returns."""
    if "/private/" in url.url:
        crawl.refuse(url, "robots/forbidden")
        return
    status, redirect, body = web.get(url.url)
    plan = crawl.plan(url)
    if plan.user_agent and host_of(url.url).endswith("h2.example"):
        body = html(text=" ".join(WORDS * 3), title="For browsers")  # a site that cloaks
    fetch = Fetch(status, now, 0.1, content_type="text/html")
    if redirect and not plan.one_try:
        crawl.redirect(url, redirect, fetch)
        return
    headers = {"content-type": "text/html", "location": redirect}
    page, steps = crawl.receive(url, Reply(url.url, status, headers, body), fetch), crawl.steps
    if page is None:
        return
    page = steps.examine(page, fetch)
    if page.page_type:
        crawl.fail(url, page.page_type, fetch)
        return
    finish(crawl, url, page, body, fetch)
