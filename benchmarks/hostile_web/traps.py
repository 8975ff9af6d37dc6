"""Endless sites that mean no harm, or little: the same pages again under ever new URLs."""

from __future__ import annotations

import re
from random import Random

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.bad import BadSite
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply

_DATE = re.compile(r"(\d{4})\D{1,9}(\d{1,2})(?:\D{1,9}(\d{1,2}))?")


def calendar(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Months and days, each with a link to the next and to the one before."""
    found = _DATE.search(f"{path}?{query}")
    year, month, day = (int(part or 0) for part in found.groups()) if found else (2024, 5, 0)
    own = site.rng("calendar")
    form = own.choice(("{h}events/{y:04}/{m:02}/", "{h}calendar?year={y}&month={m}", "{h}diary/{y:04}-{m:02}"))
    daily = own.choice(("{b}/{d:02}", "{b}-{d}", "{b}.{d}")) if "?" not in form else "{b}&day={d}"

    def month_url(months: int) -> str:
        return form.format(h=site.home, y=months // 12, m=months % 12 + 1)

    months = year * 12 + (month - 1) % 12
    base = month_url(months).rstrip("/")
    links = [A(month_url(months + step), text) for step, text in ((-1, "Earlier"), (1, "Later"), (12, "Next year"))]
    links += [A(daily.format(b=base, d=n), f"{n}") for n in range(1, 29)]
    about = prose.phrase(site.theme, own)
    empty = own.choice(("No events.", "Nothing on this day.", "There are no entries.", "Free."))
    text = f"<p>{about}: what is on. {prose.sentence(site.theme, own)}</p><p>{empty}</p>"
    return site.page(url, f"{about}, {year}-{month:02}" + (f"-{day:02}" if day else ""), text, links=links)


def sessions(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A dozen pages; every link has a new session id in it."""
    own = site.rng("sessions")
    parameter = own.choice(("visit", "tok", "s", "session", "sid", "visitor", "u", prose.name(own)))
    in_path = own.random() < 0.3
    number = int(re.sub(r"\D", "", path.rsplit("/", 1)[-1]) or 0) % 12
    marks = site.rng("mark", url)

    def marked(n: int) -> str:
        mark = f"{marks.getrandbits(64):016x}"
        return f"{site.home}{mark}/page{n}.html" if in_path else f"{site.home}page{n}.html?{parameter}={mark}"

    rng = site.rng("page", number)
    text = markup.woven(prose.paragraphs(site.theme, rng, 3), site.out(rng, 1), rng)
    links = [A(marked(n), prose.headline(site.theme, site.rng("title", n))) for n in range(12)]
    return site.page(url, prose.headline(site.theme, site.rng("title", number)), text, links=links)


def facets(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A shop whose goods can be filtered, sorted and paged in every combination."""
    own = site.rng("facets")
    names = own.sample(("color", "size", "sort", "brand", "price", "view", "page", "material", "rating", "from"), 6)
    values = {name: [site.word(own) for _ in range(6)] for name in names}
    chosen = dict(part.split("=", 1) for part in query.split("&") if "=" in part)
    goods = [prose.phrase(site.theme, own) for _ in range(60)]
    rng = site.rng("goods", query)
    shown = rng.sample(goods, 12) if len(chosen) < 3 else rng.sample(goods, rng.randint(0, 4))
    links = []
    for name in names:
        for value in values[name]:
            narrowed = {**chosen, name: value}
            links.append(A(f"{site.home}{path[1:]}?" + "&".join(f"{n}={v}" for n, v in narrowed.items()), value))
    listed = "".join(f"<li>{text}</li>" for text in shown)
    title = f"{site.word(own)} {prose.KEYWORDS[site.theme][0]}, {' '.join(chosen.values())}"
    return site.page(url, title, f"<p>{len(shown)} found</p><ol>{listed}</ol>", links=links)


def growing_paths(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Relative links that make the URL ever longer: a link without its slash, a folder in a folder."""
    own = site.rng("paths")
    steps = [site.word(own).encode("ascii", "ignore").decode() for _ in range(24)]
    rng = site.rng("growing", path)
    folder = path if path.endswith("/") else path + "/"
    links = [A(f"{site.home}{folder[1:]}{step}/", prose.phrase(site.theme, rng)) for step in rng.sample(steps, 8)]
    texts = own.choice(([own], [rng]))[0]  # some show the same text at every depth, some not quite
    text = markup.woven(prose.paragraphs(site.theme, texts, 2), (), rng)
    return site.page(url, prose.headline(site.theme, texts), text, links=[*links, *site.out(rng, 1)])


def mirrors(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A collection of copies: the same few dozen texts under every version, edition and language."""
    own = site.rng("mirrors", "of", site.theme, Random(site.seed).randrange(4))
    parts = [part for part in path.split("/") if part]
    number = int(re.sub(r"\D", "", parts[-1]) or 0) % 30 if parts else 0
    text_rng = Random(f"mirrored {site.theme} {number} {site.seed.split()[0]}")  # shared by all mirrors of a theme
    text = markup.woven(prose.paragraphs(site.theme, text_rng, 4), (), text_rng)
    title = prose.headline(site.theme, text_rng)
    rng = site.rng("editions", path)
    edition = own.choice(("v{}", "mirror{}", "edition-{}", "{}"))
    links = []
    for _ in range(25):
        folder = edition.format(rng.randrange(10**5))
        links.append(A(f"{site.home}{folder}/text{rng.randrange(30)}.html", prose.phrase(site.theme, rng)))
    return site.page(url, title, text, links=[*links, *site.out(rng, 1)])
