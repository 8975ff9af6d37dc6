"""Endless sites without bad intent: a search, a wiki with its history, a shuffled list, a shop in all editions."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote_plus, urlencode

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.bad import BadSite
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply

_TEXTS = 40  # texts that such a site really has
_ARTICLE = re.compile(r"^/text/[^/]*?(\d{1,4})\.html$")


def searches(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A search that finds something for every query, and whose results lead to further queries."""
    own = site.rng("search")
    form = own.choice(("{h}search?q={q}", "{h}find/{q}", "{h}?s={q}", "{h}tag/{q}/", "{h}suche.php?q={q}&go=1"))
    if found := _ARTICLE.match(path):
        number = int(found[1]) % _TEXTS
        rng = site.rng("text", number)
        asked: list[str] = []
        body = markup.woven(prose.paragraphs(site.theme, rng, 4), site.out(rng, 1), rng)
        title = prose.headline(site.theme, site.rng("title", number))
    else:
        rng = site.rng("results", path, query)
        asked = re.findall(r"[^\W\d_]{4,}", f"{path} {query}")[-3:]
        title = f"Search: {' '.join(asked)}" if asked else f"All about {prose.KEYWORDS[site.theme][0]}"
        body = "".join(_result(site, number) for number in rng.sample(range(_TEXTS), 10))
        more = form.format(h=site.home, q=quote_plus(" ".join(asked)))
        body += markup.listed([A(f"{more}{'&' if '?' in more else '?'}start={rng.randrange(1, 900)}0", "More results")])
    words = [site.word(rng) for _ in range(12)]
    searched = [word if rng.random() < 0.5 else " ".join([*asked, word]) for word in words]
    return site.page(
        url, title, body, links=[A(form.format(h=site.home, q=quote_plus(text)), text) for text in searched]
    )


def _result(site: BadSite, number: int) -> str:
    title = prose.headline(site.theme, site.rng("title", number))
    snippet = prose.sentence(site.theme, site.rng("text", number))
    link = A(f"{site.home}text/{site.slug(site.rng('slug', number))}-{number}.html", title)
    return f"<h3>{markup.anchor(link)}</h3><p>{snippet} ...</p>"


def wiki(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Some articles with all their revisions, diffs, backlinks, and print versions of these."""
    own = site.rng("wiki")
    script = site.home + own.choice(("index.php", "w/index.php", "wiki.pl"))
    values = dict(parse_qsl(query))
    name = values.get("title") or path.rsplit("/", 1)[-1] or "Main_Page"
    number = (
        site.rng("named", name).randrange(_TEXTS) if not name.startswith("Article_") else int(name[8:] or 0) % _TEXTS
    )
    name = f"Article_{number}"
    title = prose.headline(site.theme, site.rng("title", number))
    rng = site.rng("asked", path, query)

    def script_url(**asked: object) -> str:
        return f"{script}?{urlencode({'title': name, **asked})}"

    menu = [
        A(script_url(action="history"), "History"),
        A(script_url(action="edit"), "Edit"),
        A(script_url(printable="yes", oldid=rng.randrange(10**6)), "Printable version"),
        A(f"{script}?title=Special:WhatLinksHere/{name}&limit={rng.randrange(20, 500)}", "What links here"),
        A(f"{script}?title=Special:RecentChanges&from={rng.randrange(10**9, 2 * 10**9)}", "Recent changes"),
    ]
    if values.get("action") == "history" or "Special:" in query:
        rows = [rng.randrange(10**6) for _ in range(15)]
        menu += [A(script_url(oldid=row), f"{row % 28 + 1} May {1995 + row % 30}") for row in rows]
        menu += [A(script_url(diff="prev", oldid=row), "diff") for row in rows]
        menu.append(A(script_url(action="history", offset=rng.randrange(10**9)), "older 50"))
        return site.page(url, f"{title}: history of the page", "<p>Differences between versions.</p>", links=menu)
    text = prose.paragraphs(site.theme, site.rng("text", number), 4)
    if "oldid" in values:
        changed = site.rng("version", values["oldid"])
        text[changed.randrange(len(text))] += f" {prose.sentence(site.theme, changed)}"
        digits = re.sub(r"\D", "", values["oldid"])[:9] or "0"
        steps = ((int(digits) - 1, "Older version"), (int(digits) + 1, "Newer version"))
        menu += [A(script_url(oldid=step, diff=values.get("diff", "next")), label) for step, label in steps]
    others = [own.randrange(_TEXTS) for _ in range(8)]
    links = [A(f"{site.home}wiki/Article_{n}", prose.headline(site.theme, site.rng("title", n))) for n in others]
    return site.page(url, title, markup.woven(text, [*links, *site.out(rng, 1)], rng), links=menu)


def shuffles(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A list in another order at each request, which always has a further page."""
    if found := _ARTICLE.match(path):
        rng = site.rng("text", int(found[1]) % _TEXTS)
        body = markup.woven(prose.paragraphs(site.theme, rng, 4), site.out(rng, 1), rng)
        return site.page(url, prose.headline(site.theme, site.rng("title", int(found[1]) % _TEXTS)), body)
    own = site.rng("shuffles")
    form = own.choice(("{h}list?order=random&page={n}", "{h}browse/page/{n}/", "{h}latest?from={n}", "{h}discover/{n}"))
    rng = site.rng("shuffled", path, query)
    number = int(re.sub(r"\D", "", f"{path}{query}")[-6:] or 0)
    body = "".join(_result(site, text) for text in rng.sample(range(_TEXTS), 15))
    pages = [number + 1, number + 2, number + 10, rng.randrange(10**5)]
    links = [A(form.format(h=site.home, n=page), f"Page {page}") for page in pages]
    return site.page(url, f"{prose.phrase(site.theme, own)}, page {number}", body, links=[*links, *site.out(rng, 1)])


_LANGUAGES = (
    "en-us",
    "en-gb",
    "de-de",
    "de-at",
    "fr-fr",
    "es-es",
    "es-mx",
    "it-it",
    "pt-br",
    "nl-nl",
    "pl-pl",
    "ja-jp",
)
_CURRENCIES = ("USD", "EUR", "GBP", "JPY", "CHF", "PLN", "BRL", "CAD")
_EDITION = re.compile(r"^/([a-z]{2}-[a-z]{2})/")


def variants(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A few goods in every language and currency, with pages to print, share and compare them."""
    own = site.rng("variants")
    chosen = dict(parse_qsl(query))
    edition = _EDITION.match(path)
    language = edition[1] if edition else ""
    rest = path[len(language) + 1 :] if language else path
    digits = re.sub(r"\D", "", rest)[-4:]
    number = int(digits) % _TEXTS if digits else 0

    def variant(n: int, into: str = "", **more: str) -> str:
        folder = f"{into or language}/" if into or language else ""
        asked = {**chosen, **more}
        return f"{site.home}{folder}{style}{n}.html" + (f"?{urlencode(asked)}" if asked else "")

    style = own.choice(("product/", "p-", "goods/item-", "artikel/"))
    text = site.rng("text", number)
    currency = chosen.get("currency", "USD")
    price = (
        f"{text.randrange(10, 900) * (_CURRENCIES.index(currency) + 1 if currency in _CURRENCIES else 1)}.00 {currency}"
    )
    rng = site.rng("variant", path, query)
    links = [A(variant(n), prose.headline(site.theme, site.rng("title", n))) for n in own.sample(range(_TEXTS), 8)]
    links += [A(variant(number, into=name), name) for name in _LANGUAGES]
    links += [A(variant(number, currency=name), name) for name in _CURRENCIES]
    links += [A(variant(number, view=name), name.title()) for name in ("print", "amp", "mobile", "pdf")]
    links.append(A(variant(number, utm_campaign=f"{rng.getrandbits(32):08x}"), "Tell a friend"))
    links.append(A(variant(number, compare=f"{rng.randrange(10**4)}"), "Compare"))
    title = prose.headline(site.theme, site.rng("title", number))
    body = markup.woven(prose.paragraphs(site.theme, text, 2), site.out(rng, 1), rng)
    return site.page(url, f"{title} {language}".strip(), f"<p>{price}</p>{body}", links=links)
