"""Sites made by machines to look like sites of people: stolen, spun and generated texts, doorways, cloaking."""

from __future__ import annotations

import re
from random import Random

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.bad import BadSite
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply


def content_farm(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Paragraphs stolen from others, in ever new order, under titles that people search for."""
    rng = site.rng("stitched", path, query)
    stolen = [site.stolen(rng) for _ in range(rng.randint(3, 6))]
    body = markup.woven(stolen, site.own(rng, 3) + site.out(rng, 1), rng)
    return site.page(url, prose.headline(site.theme, rng), body, links=site.own(rng, rng.randint(6, 14)))


_PLACES = (
    *("Aachen", "Bergen", "Cadiz", "Dover", "Essen", "Fulda", "Ghent", "Haarlem", "Ieper", "Jena", "Kassel", "Leeds"),
    *("Malmo", "Nimes", "Oulu", "Parma", "Reims", "Siena", "Tartu", "Ulm", "Varna", "Wells", "York", "Zadar"),
    *("Aberdeen", "Bilbao", "Cork", "Delft", "Evora", "Ferrara", "Graz", "Halle", "Imola", "Kiel", "Lund", "Mainz"),
)


def doorways(site: BadSite, url: str, path: str, query: str) -> Reply:
    """The same offer for every place, each under a separate name below the domain."""
    own = site.rng("doorways")
    spun = _Spinner(site, own)
    host = url.split("/", 3)[2]
    rng = site.rng("door", host, path, query)
    place, subject = rng.choice(_PLACES), rng.choice(prose.KEYWORDS[site.theme])
    text = " ".join(sentence.replace("~", f"{subject} in {place}") for sentence in spun(rng, 8))
    links = []
    for _ in range(rng.randint(10, 20)):
        there, what = rng.choice(_PLACES), rng.choice(prose.KEYWORDS[site.theme])
        label = re.sub(r"[^a-z]+", "-", f"{what} {there}".lower()).strip("-")
        links.append(A(f"http://{label}-{rng.randrange(10**5)}.{site.host}/", f"{what} in {there}"))
    body = f"<p>{text}</p>" + markup.woven(prose.paragraphs(site.theme, rng, 1), site.out(rng, 2), rng)
    return site.page(url, f"{subject} in {place}", body, links=links)


def swarms(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A domain with three pages that lead to other domains with three pages."""
    host = url.split("/", 3)[2]
    rng = site.rng("swarm", host, path, query)
    links = []
    for _ in range(rng.randint(6, 12)):
        page = rng.choice(("", "", f"{site.slug(rng)}.html"))
        links.append(A(f"http://{site.throwaway(rng)}/{page}", prose.headline(site.theme, rng)))
    links += site.out(rng, 1)
    body = markup.woven(prose.paragraphs(site.theme, rng, 3), links, rng)
    mine = [A(f"http://{host}/{label}.html", label.title()) for label in ("about", "archive")]
    return site.page(url, prose.headline(site.theme, rng), body, links=mine)


_PRAISE = (
    "Great site, I will come back!",
    "Very interesting, thank you for sharing.",
    "I have been looking for this for a long time.",
    "Hello all, greetings from {p}.",
    "Your page is well made, keep on.",
    "My friends in {p} like it too.",
    "Nice post. Have a look at mine.",
)


def guestbooks(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A forum abandoned to spam bots: a text, then praise and links, and members with a homepage."""
    own = site.rng("guestbook")
    member = own.choice(("{h}member.php?u={n}", "{h}profile/{n}", "{h}users/{n}.html"))
    thread = own.choice(("{h}viewtopic.php?t={n}", "{h}thread/{n}", "{h}guestbook?page={n}"))
    rng = site.rng("visited", path, query)

    def own_link(form: str, text: str) -> A:
        return A(form.format(h=site.home, n=rng.randrange(10**6)), text)

    if any(word in url for word in ("member", "profile", "users")):
        name = prose.name(rng).title()
        body = f"<p>{name} joined in {rng.randrange(1998, 2012)}. Posts: {rng.randrange(40)}. Home: {rng.choice(_PLACES)}.</p>"
        links = [*site.out(rng, 3), *(own_link(member, prose.name(rng).title()) for _ in range(8))]
        links += [own_link(thread, "All posts of this member"), own_link(member, "Send a message")]
        return site.page(url, f"Profile of {name}", body, links=links)
    posts = prose.paragraphs(site.theme, rng, 1) if rng.random() < 0.6 else []
    for _ in range(rng.randint(6, 15)):
        writer, lure = own_link(member, prose.name(rng).title()), site.out(rng, 1)[0]
        praise = rng.choice(_PRAISE).format(p=rng.choice(_PLACES))
        answer = own_link(thread, rng.choice(("Reply", "Quote", "Report", "Print")))
        posts.append(f"{markup.anchor(writer)} wrote: {praise} {markup.anchor(lure)} {markup.anchor(answer)}")
    links = [own_link(thread, prose.headline(site.theme, rng)) for _ in range(8)]
    body = "".join(f"<div><p>{post}</p></div>" for post in posts)
    return site.page(url, prose.headline(site.theme, rng), body, links=[*links, own_link(thread, "Next page")])


def fresh_paths(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Endlessly nested folders, each with a new text about the theme."""
    rng = site.rng("fresh", path, query)
    folder = path if path.endswith("/") else f"{path.rsplit('/', 1)[0]}/"
    links = [
        A(f"{site.home}{folder[1:]}{site.slug(rng)}/", prose.headline(site.theme, rng))
        for _ in range(rng.randint(3, 9))
    ]
    woven, listed = links[:3], links[3:]
    body = markup.woven(prose.paragraphs(site.theme, rng, rng.randint(3, 7)), [*woven, *site.out(rng, 1)], rng)
    return site.page(url, prose.headline(site.theme, rng), body, links=listed)


def generated(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Articles generated on request, each from the same few sentences with other words."""
    spun = _Spinner(site, site.rng("generated"))
    rng = site.rng("written", path, query)
    texts = [" ".join(spun(rng, rng.randint(3, 6))).replace("~", site.word(rng)) for _ in range(rng.randint(3, 6))]
    body = markup.woven(texts, [*site.own(rng, 2), *site.out(rng, 1)], rng)
    return site.page(url, prose.headline(site.theme, rng), body, links=site.own(rng, rng.randint(5, 10)))


def cloaked(site: BadSite, url: str, path: str, query: str) -> Reply:
    """The pages served to a crawler: texts about the theme. ``unmasked`` serves those for a browser."""
    rng = site.rng("cloaked", path, query)
    body = markup.woven(
        prose.paragraphs(site.theme, rng, rng.randint(3, 6)), [*site.own(rng, 2), *site.out(rng, 1)], rng
    )
    return site.page(url, prose.headline(site.theme, rng), body, links=site.own(rng, rng.randint(4, 10)))


def unmasked(site: BadSite, url: str, path: str, query: str) -> Reply:
    """The shop behind a cloaked page."""
    rng = site.rng("shop", path, query)
    goods = rng.sample(("watches", "pills", "loans", "bets", "bags", "shoes", "diplomas", "tickets"), 5)
    offers = "".join(f"<li>{ware.title()} from {rng.randrange(9, 99)}.99, today only</li>" for ware in goods)
    body = f"<p>Welcome to our shop. Order now, pay later.</p><ul>{offers}</ul><form action=/cart><button>Buy</button></form>"
    return site.page(url, f"{goods[0].title()} and {goods[1]}: buy now", body)


class _Spinner:
    """The sentences of one machine: most of their words are fixed, and every fifth differs each time."""

    def __init__(self, site: BadSite, own: Random) -> None:
        self._site = site
        self._frames = [self._frame(prose.sentence(site.theme, own), own) for _ in range(25)]

    @staticmethod
    def _frame(sentence: str, own: Random) -> str:
        words = [word if own.random() > 0.2 else "@" for word in sentence.rstrip(".").split()]
        if own.random() < 0.4:
            words.insert(own.randrange(len(words)), "~")
        return f"{' '.join(words)}."

    def __call__(self, rng: Random, count: int) -> list[str]:
        frames = rng.sample(self._frames, count)
        return [re.sub("@", lambda _: self._site.word(rng), frame) for frame in frames]
