"""Sites that answer without content: soft 404s, parked domains, blocks, captchas, consent walls."""

from __future__ import annotations

import re

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.bad import BadSite
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply

_MISSING = (
    ("Page not found", "The page you are looking for does not exist."),
    ("404", "Sorry, we could not find what you asked for."),
    ("Oops!", "That page can't be found. It may have been moved or deleted."),
    ("Seite nicht gefunden", "Die gewünschte Seite existiert leider nicht."),
    ("Page introuvable", "Désolé, cette page n'existe pas ou plus."),
    ("Página no encontrada", "Lo sentimos, la página que busca no existe."),
    ("Error", "The requested document was not found on this server."),
    ("Nothing here", "Nothing was found at this address. Try one of these."),
    ("No longer available", "This content is no longer available."),
    ("Pagina non trovata", "La pagina richiesta non è stata trovata."),
)
_FOR_SALE = (
    ("{h} is for sale", "This domain may be for sale. Make an offer."),
    ("Buy {h}", "The owner of {h} is offering it for sale at a reasonable price."),
    ("{h}", "Related searches. This page is provided courtesy of the registrar. Domain parking."),
    ("Welcome to {h}", "This domain is parked free of charge. Get this domain!"),
    ("{h}", "Diese Domain steht zum Verkauf. Jetzt anfragen."),
    ("{h}", "This web page is parked. Is this your domain? Renew now. Sponsored listings"),
)
_CAPTCHAS = (
    ("Are you human?", "Please complete the security check to continue. Type the characters in the picture."),
    ("Just a moment...", "Checking your browser before you can go on. Enable JavaScript and cookies to continue."),
    ("Verify", "Our systems have detected unusual traffic from your computer network. Solve the captcha below."),
    ("Robot check", "To continue, please confirm that you are not a robot."),
)
_CONSENTS = (
    ("Before you continue", "We and our partners use cookies. Accept all or reject all to continue to this site."),
    ("Your privacy", "We value your privacy. Please accept cookies to read on. Manage options."),
    ("Einwilligung", "Wir und unsere Partner verwenden Cookies. Bitte stimmen Sie zu, um fortzufahren."),
)
_NUMBER = re.compile(r"(\d+)(?!.*\d)")


def soft_404(site: BadSite, url: str, path: str, query: str) -> Reply:
    """No requested page exists, but the site says so with a 200 and many links to pages that do not exist either."""
    own = site.rng("missing")
    rng = site.rng("missed", path, query)
    title, text = own.choice(_MISSING)
    if path == "/":
        body = markup.woven(prose.paragraphs(site.theme, rng, 2), (), rng)
        return site.page(url, prose.phrase(site.theme, own), body, links=site.own(rng, 15))
    asked = path.rsplit("/", 1)[-1]
    named = f"{title}: {asked}" if own.random() < 0.3 else title
    return site.page(url, named, f"<p>{text}</p><p>You may like:</p>", links=site.own(rng, 20) + site.out(rng, 2))


def parked(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A domain for sale, as is every name below it."""
    own = site.rng("parked")
    title, text = own.choice(_FOR_SALE)
    rng = site.rng("parking", url)
    links = []
    for _ in range(rng.randint(8, 20)):
        label = f"{site.word(rng)}-{site.word(rng)}".encode("ascii", "ignore").decode().strip("-").lower()
        links.append(A(f"http://{label}{rng.randrange(10**4)}.{site.host}/", prose.phrase(site.theme, rng)))
    links += site.out(rng, 2)
    return site.page(url, title.format(h=site.host), f"<p>{text.format(h=site.host)}</p>", links=links)


def walled(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Pages at first, then more and more often a wall: a block, a captcha, a consent question."""
    own = site.rng("walled")
    rng = site.rng("wall", path, query)
    found = _NUMBER.search(f"{path}?{query}")
    number = int(found[1]) if found else 0
    links = []
    for step in range(1, 10):
        label = f"{site.word(rng)}".encode("ascii", "ignore").decode()
        links.append(A(f"{site.home}{label}/{number + step * rng.randint(1, 4)}.html", prose.phrase(site.theme, rng)))
    if rng.random() * 12 >= number:
        body = markup.woven(prose.paragraphs(site.theme, rng, 3), site.out(rng, 1), rng)
        return site.page(url, prose.headline(site.theme, rng), body, links=links)
    way = own.choice(("status", "captcha", "consent", "mixed"))
    way = rng.choice(("status", "captcha", "consent")) if way == "mixed" else way
    if way == "captcha":
        title, text = own.choice(_CAPTCHAS)
        body = f'<p>{text}</p><form action="/check" method=post><div class="g-captcha"></div><input name=answer></form>'
        return site.page(url, title, body, status=own.choice((200, 403, 503)))
    if way == "consent":
        title, text = own.choice(_CONSENTS)
        body = f"<p>{text}</p><form method=post><button>OK</button></form>"
        return site.page(url, title, body, links=[A(f"{site.home}consent?return={path}", "Accept")])
    status = own.choice((403, 429, 503))
    headers = {"retry-after": "30"} if status != 403 and own.random() < 0.5 else {}
    return site.page(
        url,
        {403: "Forbidden", 429: "Too many requests", 503: "Unavailable"}[status],
        "",
        status=status,
        headers=headers,
    )
